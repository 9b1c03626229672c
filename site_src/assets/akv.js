/* Draws the charts of a page, makes its tables sortable, and starts its readers.
 *
 * A classic script, so that it runs from file:// too, where a browser refuses fetch, modules and workers. A chart's
 * data is a script beside the page that calls akvChart; the drawing library is loaded only where there is a chart.
 */
(function () {
  "use strict";

  var NARROW = 560;
  var SYMBOL = 34; // width of a legend's symbol, with the space beside its label
  // Styles of lines across rows, in a chart's first layer.
  var LINES_UNDER = ["akv-pair", "akv-zero", "akv-neutral"];
  var here = document.currentScript.src;
  var specs = new Map(); // address of a data script -> specification
  var loads = new Map(); // address of a script -> promise of its load
  var drawn = new Map(); // figure -> { view, width, dark }
  var queue = Promise.resolve();

  // Called by data scripts. Keys repeat from page to page, addresses do not.
  window.akvChart = function (key, spec) {
    specs.set(document.currentScript.src, spec);
  };

  function load(url) {
    if (!loads.has(url)) {
      loads.set(
        url,
        new Promise(function (resolve, reject) {
          var script = document.createElement("script");
          script.src = url;
          script.async = false; // one after another as they were asked for, however long each is on its way
          script.onload = resolve;
          script.onerror = function () {
            loads.delete(url);
            script.remove();
            reject(new Error(decodeURIComponent(url.split("/").pop()) + " could not be loaded"));
          };
          document.head.appendChild(script);
        })
      );
    }
    return loads.get(url);
  }

  // Charts

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
    return Promise.all([load(new URL("vega.js", here).href), load(url)])
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

  // Tables

  var collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

  /* What a cell sorts by: data-sort where a page gives it, else a leading number, else its text. */
  function sortKey(cell) {
    var given = cell ? cell.getAttribute("data-sort") : null;
    var text = (given !== null ? given : cell ? cell.textContent : "").trim();
    if (text === "" || text === "–" || /^unknown/.test(text)) return null;
    var number = /^[+-]?\d[\d.]*(e[+-]?\d+)?(?![\w-])/i.exec(text);
    return number ? Number(number[0]) : text;
  }

  function compared(a, b) {
    if (typeof a === "number" && typeof b === "number") return a - b;
    return collator.compare(String(a), String(b));
  }

  function sortRows(table, column, descending) {
    var body = table.tBodies[0];
    var rows = Array.from(body.rows).map(function (row, at) {
      return { row: row, key: sortKey(row.cells[column]), at: at };
    });
    rows.sort(function (a, b) {
      // What is not known comes last, whichever way.
      if (a.key === null || b.key === null) return (a.key === null) - (b.key === null) || a.at - b.at;
      return (descending ? -1 : 1) * compared(a.key, b.key) || a.at - b.at;
    });
    rows.forEach(function (item) {
      body.appendChild(item.row);
    });
  }

  function makeSortable(table) {
    var heads = Array.from(table.tHead.rows[0].cells);
    heads.forEach(function (head, column) {
      var button = document.createElement("button");
      button.type = "button";
      button.className = "akv-sort";
      while (head.firstChild) button.appendChild(head.firstChild);
      head.appendChild(button);
      button.addEventListener("click", function () {
        var descending = head.getAttribute("aria-sort") === "ascending";
        heads.forEach(function (other) {
          other.removeAttribute("aria-sort");
        });
        head.setAttribute("aria-sort", descending ? "descending" : "ascending");
        sortRows(table, column, descending);
      });
    });
  }

  /* A row's cells with a space between them, so that no word spans two; numbers also without separators: 1,700 is 1700. */
  function rowText(row) {
    var text = Array.from(row.cells, function (cell) {
      return cell.textContent.toLowerCase();
    }).join(" ");
    return text + " " + text.replace(/(\d),(?=\d{3}(?!\d))/g, "$1");
  }

  function makeFilter(holder, table) {
    var label = document.createElement("label");
    var input = document.createElement("input");
    var count = document.createElement("span");
    label.className = "akv-filter";
    input.type = "search";
    input.autocomplete = "off";
    count.setAttribute("role", "status");
    label.append("Filter rows ", input, count);
    function apply() {
      var words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      var rows = Array.from(table.tBodies[0].rows);
      rows.forEach(function (row) {
        var text = rowText(row);
        row.hidden = !words.every(function (word) {
          return text.includes(word);
        });
      });
      var left = rows.filter(function (row) {
        return !row.hidden;
      }).length;
      count.textContent =
        " " + left + " of " + rows.length + " rows" + (left || !words.length ? "" : ": no row has these words");
    }
    input.addEventListener("input", apply);
    apply();
    holder.parentNode.insertBefore(label, holder);
  }

  function makeTables() {
    document.querySelectorAll("[data-akv-table]:not([data-akv-ready])").forEach(function (holder) {
      var table = holder.tagName === "TABLE" ? holder : holder.querySelector("table");
      if (!table || !table.tHead || !table.tBodies.length) return;
      holder.setAttribute("data-akv-ready", "");
      makeSortable(table);
      makeFilter(holder.closest(".akv-scroll, .md-typeset__scrollwrap") || holder, table);
    });
  }

  // Readers: parts of a page that draw what is chosen, out of files beside the page

  var SHARED = ["akv-listing-piece.js", "akv-listing.js", "akv-choice.js", "akv-lanes-draw.js", "akv-lanes.js"];
  // What a reader is made of besides, in this order.
  var PARTS = {
    association: ["akv-call-rows.js", "akv-call-parts.js", "akv-call-lanes.js"],
    life: ["akv-life-data.js", "akv-life-lanes.js", "akv-life-words.js"],
    browse: ["akv-filter.js", "akv-rows.js", "akv-browse-parts.js", "akv-browse-goes.js"],
    profile: ["akv-profile-rows.js", "akv-profile-lanes.js", "akv-profile-parts.js"],
  };

  /* Run in the order in which they are named, all on their way at once. */
  function assets(names) {
    var urls = names.map(function (name) {
      return new URL(name, here).href;
    });
    return Promise.all(urls.map(load)).catch(function (error) {
      // Those after one that is missing ran without it: the next page asks for all of them again.
      urls.forEach(function (url) {
        loads.delete(url);
      });
      throw error;
    });
  }

  /* Starts each reader once; the promise is kept when all of them have drawn, or said why not. */
  function startReaders() {
    var found = document.querySelectorAll("[data-akv-reader]:not([data-akv-reader-started])");
    return Promise.all(Array.from(found, startReader));
  }

  function startReader(element) {
    var kind = element.getAttribute("data-akv-reader");
    element.setAttribute("data-akv-reader-started", "");
    return assets(SHARED.concat(PARTS[kind] || [], "akv-" + kind + ".js"))
      .then(function () {
        if (!window.akvReaders || !window.akvReaders[kind]) throw new Error("akv-" + kind + ".js did not bring it");
        return window.akvReaders[kind](element, JSON.parse(element.getAttribute("data-akv-reader-about")));
      })
      .then(function () {
        element.setAttribute("data-akv-reader-ready", "yes");
      })
      .catch(function (error) {
        var note = document.createElement("p");
        note.className = "akv-failed";
        note.setAttribute("role", "status");
        note.textContent = "This part could not be drawn: " + ((error && error.message) || error) + ".";
        element.prepend(note);
        element.setAttribute("data-akv-reader-ready", "no");
      });
  }

  /* A page with a reader is opened for it, and each chart holds up all else for as long as it is drawn: charts come after.
     Only in a task of their own, or the page would not count as loaded, nor be painted, before the last of them. */
  function afterReaders(readers) {
    return readers.then(function () {
      return new Promise(function (go) {
        setTimeout(go, 30);
      });
    });
  }

  // When

  /* What scrolls sideways can be scrolled with the keyboard. The theme wraps plain tables, and does so later. */
  function reachScrolled() {
    var wraps = Array.from(document.querySelectorAll(".md-typeset__scrollwrap, [data-akv-table]"));
    // All are looked at before one is changed, or the browser would lay out the page again for each.
    wraps
      .filter(function (wrap) {
        return wrap.scrollWidth > wrap.clientWidth;
      })
      .forEach(function (wrap) {
        wrap.tabIndex = 0;
      });
  }

  /* The theme's search is a dialog without a name. */
  function nameSearch() {
    var search = document.querySelector(".md-search[role=dialog]:not([aria-label])");
    if (search) search.setAttribute("aria-label", "Search");
  }

  function start() {
    nameSearch();
    makeTables();
    var readers = startReaders();
    if (document.querySelector("[data-akv-reader]")) queue = Promise.all([queue, afterReaders(readers)]);
    drawAll();
    setTimeout(reachScrolled, 300);
  }

  var later;
  window.addEventListener("resize", function () {
    clearTimeout(later);
    later = setTimeout(function () {
      reachScrolled();
      drawAll();
    }, 200);
  });
  new MutationObserver(drawAll).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
  // Once by the browser's own event, since from file:// the theme's never comes; and after each page that the theme
  // puts in place without a load. Starting twice does no harm.
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
  if (window.document$ && window.document$.subscribe) window.document$.subscribe(start);
})();
