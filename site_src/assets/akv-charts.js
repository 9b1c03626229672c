/* Draws the charts of a page: a chart's data is a script beside the page that calls akvChart; the drawing library is loaded
 * only where there is a chart. */
(function () {
  "use strict";

  var NARROW = 560;
  var SYMBOL = 34; // width of a legend's symbol, with the space beside its label
  // Styles of lines across rows, in a chart's first layer.
  var LINES_UNDER = ["akv-pair", "akv-zero", "akv-neutral"];
  var specs = new Map(); // address of a data script -> specification
  var drawn = new Map(); // figure -> { view, width, dark }
  var queue = Promise.resolve();

  // Called by data scripts. Keys repeat from page to page, addresses do not.
  window.akvChart = function (key, spec) {
    specs.set(document.currentScript.src, spec);
  };

  function isDark() {
    return document.body.getAttribute("data-md-color-scheme") === "slate";
  }

  function over(base, top) {
    var both = Object.assign({}, base);
    Object.keys(top || {}).forEach(function (key) {
      var plain = top[key] && typeof top[key] === "object" && !Array.isArray(top[key]);
      both[key] = plain ? over(both[key] || {}, top[key]) : top[key];
    });
    return both;
  }

  var pen = document.createElement("canvas").getContext("2d");

  /* The words of a text, between which a line may break: not before a dot between two parts, nor within a comparison, a
     band, or a number with its unit. */
  function words(text) {
    return text
      .replace(/ ·/g, "\u00a0·")
      .replace(/ ([<>]=) /g, "\u00a0$1\u00a0")
      .replace(/([\dd],) (?=[-\d.a-z]+\])/g, "$1\u00a0")
      .replace(/(\d) (?=(ns|us|ms|s|ppm|%)(?![^\s,;:)\]]))/g, "$1\u00a0")
      .split(" ")
      .map(function (word) {
        return word.replace(/\u00a0/g, " ");
      });
  }

  /* The lines of a text in a width; a word that is wider than a line is broken. */
  function wrapped(text, font, width) {
    pen.font = font;
    var lines = [];
    var line = "";
    words(text).forEach(function (word) {
      var longer = line ? line + " " + word : word;
      if (pen.measureText(longer).width <= width) {
        line = longer;
        return;
      }
      if (line) lines.push(line);
      line = "";
      Array.from(word).forEach(function (character) {
        if (line && pen.measureText(line + character).width > width) {
          lines.push(line);
          line = "";
        }
        line += character;
      });
    });
    if (line) lines.push(line);
    return lines;
  }

  function wrappedAll(texts, font, width) {
    return texts.reduce(function (lines, text) {
      return lines.concat(wrapped(text, font, width));
    }, []);
  }

  /* The specification for a width and a colour scheme: text broken again, and on a phone labels over their rows. */
  function fitted(spec, width, dark) {
    spec = JSON.parse(JSON.stringify(spec));
    var akv = spec.usermeta.akv;
    var child = spec.vconcat[0];
    var config = over(spec.config, dark ? akv.dark : {});
    var style = getComputedStyle(document.body);
    config.font = style.fontFamily;
    if (!/^rgba\(.*, 0\)$|^transparent$/.test(style.backgroundColor)) config.background = style.backgroundColor;
    config.style["akv-ground"] = over(config.style["akv-ground"], { color: config.background });
    var footer = config.style["akv-footer"];
    var room = width - 2 * config.padding - 2;
    spec.title.text = wrapped(akv.question, font(config.title.fontWeight, config.title.fontSize), room);
    if (akv.headline.length) {
      spec.title.subtitle = wrappedAll(akv.headline, font("", config.title.subtitleFontSize), room);
    }
    child.title.text = wrappedAll(akv.footer, font(footer.fontWeight, footer.fontSize), room);
    child.width = room;
    var labels = Math.min(config.axis.labelLimit, labelWidth(child, font("", config.axis.labelFontSize)));
    var legend = room - (width < NARROW && child.height.step ? 0 : labels + 12);
    var columns = legendColumns(child, font("", config.legend.labelFontSize), legend);
    // Legends stand over each other, each with all of the width, and no entry is wider than that.
    var entry = Math.min(config.legend.labelLimit, Math.floor(legend - SYMBOL));
    var layout = { top: { direction: "vertical", margin: 4 } };
    config = over(config, { legend: { columns: columns, labelLimit: entry, layout: layout } });
    if (width < NARROW) labelsOverRows(child, room, font("", config.axis.labelFontSize));
    spec.config = config;
    return spec;

    function font(weight, size) {
      return weight + " " + size + "px " + config.font;
    }
  }

  /* How much of the width the labels of the rows take; the numbers of another axis take less than this. */
  function labelWidth(child, font) {
    var names = [];
    pen.font = font;
    child.layer.forEach(function (layer) {
      var y = layer.encoding.y;
      if (y && y.type === "nominal") names = names.concat(y.scale.domain);
    });
    return names.reduce(function (widest, name) {
      return Math.max(widest, pen.measureText(name).width);
    }, 40);
  }

  /* As many columns as the widest legend has room for. */
  function legendColumns(child, font, room) {
    var columns = Infinity;
    pen.font = font;
    child.layer.forEach(function (layer) {
      ["color", "shape"].forEach(function (channel) {
        var coded = layer.encoding[channel];
        if (!coded || !coded.scale || !coded.legend) return;
        var widths = coded.scale.domain.map(function (label) {
          return pen.measureText(label).width + SYMBOL;
        });
        columns = Math.min(columns, Math.max(1, Math.floor(room / Math.max.apply(null, widths))));
      });
    });
    return columns === Infinity ? 1 : columns;
  }

  function labelsOverRows(child, room, labelFont) {
    if (!child.height || !child.height.step) return;
    var space = 18;
    var rows;
    var limit = room - 16; // less what the first number of the axis below may take at the left
    var step = child.height.step + space;
    child.height.step = step;
    child.layer.forEach(function (layer) {
      var y = layer.encoding.y;
      if (!y || y.type !== "nominal") return;
      rows = y;
      y.scale = over(y.scale, { paddingInner: space / step, paddingOuter: space / step / 2, align: 1 });
      y.axis = over(y.axis, {
        labelAlign: "left",
        labelPadding: -1,
        labelOffset: -(step - space) / 2 - space / 2,
        labelLimit: limit,
        zindex: 1,
      });
    });
    if (LINES_UNDER.indexOf(child.layer[0].mark.style) >= 0) groundUnder(rows, child, step, space, labelFont, limit);
  }

  /* Lines across the rows would strike through the labels between them: each label stands on ground of its own. */
  function groundUnder(y, child, step, space, labelFont, limit) {
    pen.font = labelFont;
    var grounds = y.scale.domain.map(function (name) {
      return {
        data: { values: [{ label: name }] },
        mark: { type: "rect", style: "akv-ground", height: space - 2, yOffset: -step / 2 },
        encoding: { x: { value: 0 }, x2: { value: Math.min(limit, pen.measureText(name).width + 8) }, y: y },
      };
    });
    child.layer.splice.apply(child.layer, [1, 0].concat(grounds));
  }

  function draw(figure) {
    var box = figure.querySelector(".akv-drawing");
    var dark = isDark();
    var width = box.clientWidth;
    if (!width) return Promise.resolve();
    var url = new URL(figure.getAttribute("data-akv-src"), document.baseURI).href;
    return Promise.all([window.akvLoad.assets(["vega.js"]), window.akvLoad.load(url)])
      .then(function () {
        if (!window.vegaEmbed) throw new Error("vega.js did not bring the drawing library");
        if (!specs.has(url)) throw new Error("the data script holds no chart");
        return window.vegaEmbed(box, fitted(specs.get(url), width, dark), {
          mode: "vega-lite",
          renderer: "svg",
          actions: false,
          tooltip: { theme: dark ? "dark" : "light" },
        });
      })
      .then(function (result) {
        release(figure);
        drawn.set(figure, { view: result.view, width: width, dark: dark });
        saveButtons(figure);
        return settle(result.view, box, width, 3);
      })
      .then(function () {
        figure.setAttribute("data-akv-scheme", document.body.getAttribute("data-md-color-scheme") || "");
        figure.setAttribute("data-akv-width", width);
        figure.setAttribute("data-akv-drawn", "yes");
      })
      .catch(function (error) {
        failed(figure, box, error);
      });
  }

  /* The plot takes what axes and legends leave of the width, which is known only once they are drawn. */
  function settle(view, box, width, tries) {
    var excess = box.querySelector("svg").width.baseVal.value - width;
    if (!tries || (excess <= 0 && excess > -2)) return Promise.resolve();
    return view
      .signal("width", Math.max(80, Math.floor(view.signal("width") - excess)))
      .resize()
      .runAsync()
      .then(function () {
        return settle(view, box, width, tries - 1);
      });
  }

  function failed(figure, box, error) {
    release(figure);
    box.textContent = "";
    var note = document.createElement("p");
    note.className = "akv-failed";
    note.setAttribute("role", "status");
    note.textContent =
      "This chart could not be drawn: " + ((error && error.message) || error) + ". The table below has the same numbers.";
    box.appendChild(note);
    figure.setAttribute("data-akv-drawn", "no");
    figure.querySelectorAll("details").forEach(function (fold) {
      fold.open = true;
    });
  }

  function release(figure) {
    if (drawn.has(figure)) drawn.get(figure).view.finalize();
    drawn.delete(figure);
  }

  function saveButtons(figure) {
    var links = figure.querySelector(".akv-links");
    if (!links || links.querySelector("button")) return;
    ["svg", "png"].forEach(function (type) {
      var button = document.createElement("button");
      button.type = "button";
      button.textContent = "image (" + type.toUpperCase() + ")";
      button.addEventListener("click", function () {
        drawn.get(figure).view.toImageURL(type, type === "png" ? 2 : 1).then(function (url) {
          var link = document.createElement("a");
          link.href = url;
          link.download = fileName(figure) + "." + type;
          link.click();
        });
      });
      links.append(" · ", button);
    });
  }

  /* A file's name says which page it comes from: "runs-a0-steps" for data/runs/a0/steps.js. */
  function fileName(figure) {
    var parts = figure.getAttribute("data-akv-src").replace(/\.js$/, "").split("/");
    return parts.slice(parts.lastIndexOf("data", parts.length - 2) + 1).join("-");
  }

  /* Charts that are not drawn by then come after what this promises. */
  function after(promise) {
    queue = Promise.all([queue, promise]);
  }

  /* Draws what is not drawn, or was drawn for another width or colour scheme; one after another. */
  function drawAll() {
    drawn.forEach(function (_, figure) {
      if (!figure.isConnected) release(figure);
    });
    document.querySelectorAll("figure[data-akv-src]").forEach(function (figure) {
      queue = queue.then(function () {
        var last = drawn.get(figure);
        var width = figure.querySelector(".akv-drawing").clientWidth;
        var same = last && last.dark === isDark() && Math.abs(last.width - width) < 2;
        return same || !figure.isConnected ? undefined : draw(figure);
      });
    });
  }

  window.akvCharts = { drawAll: drawAll, after: after };
})();
