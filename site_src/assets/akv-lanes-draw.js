/* The drawing of bars on lanes as one SVG: what akv-lanes.js shows, in the stretch of time that its reader looks at. */
(function () {
  "use strict";

  if (window.akvLanesDraw) return;

  var SVG = "http://www.w3.org/2000/svg";
  var ROW = 26;
  var BAR = 16;
  var OVER = 18; // what a row is higher by where its label stands over it
  var HUES = 6;
  var NARROW = 560;
  var WIDEST = 2000; // letters: no drawing is wide enough for more, and to measure them takes long
  var TOLD = 1000; // letters of what is said of a bar
  var LEAST = 1.2; // px: what is shorter is drawn wider than it is, so that nothing is out of sight
  var pen = document.createElement("canvas").getContext("2d");

  function make(name, attributes, text) {
    var made = document.createElementNS(SVG, name);
    Object.keys(attributes).forEach(function (key) {
      if (attributes[key] !== null && attributes[key] !== undefined) made.setAttribute(key, attributes[key]);
    });
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function wide(text, font) {
    pen.font = font;
    return pen.measureText(text).width;
  }

  function whole(text, most) {
    return text ? window.akvChoice.short(String(text), most) : "";
  }

  /* A word that is wider than the drawing is broken too. */
  function wrapped(text, font, width) {
    var lines = [];
    var line = "";
    whole(text, 2 * WIDEST)
      .split(" ")
      .forEach(function (word) {
        var longer = line ? line + " " + word : word;
        if (wide(longer, font) <= width) {
          line = longer;
          return;
        }
        if (line) lines.push(line);
        while (word && wide(word, font) > width) {
          var part = shortened(word, font, width, "");
          lines.push(part);
          word = word.slice(part.length);
        }
        line = word;
      });
    if (line) lines.push(line);
    return lines;
  }

  function shortened(text, font, width, sign) {
    var mark = sign === undefined ? "…" : sign;
    return fitting(text, font, width, 1, function (letters, kept) {
      return letters.slice(0, kept).join("") + mark;
    });
  }

  /* A label of a lane is told from others by its end, too. */
  function middled(text, font, width) {
    return fitting(text, font, width, 2, function (letters, kept) {
      var head = Math.ceil(kept / 2);
      var tail = letters.slice(letters.length - (kept - head)).join("");
      return letters.slice(0, head).join("").trimEnd() + "…" + tail.trimStart();
    });
  }

  /* The longest cut of a text that is no wider than `width`, with at least `least` letters: cut(letters, how many to keep). */
  function fitting(text, font, width, least, cut) {
    var said = String(text);
    if (said.length <= WIDEST && wide(said, font) <= width) return said;
    var letters = Array.from(said);
    var low = least;
    var high = Math.min(letters.length - 1, WIDEST);
    while (low < high) {
      var middle = (low + high + 1) >> 1;
      if (wide(cut(letters, middle), font) <= width) low = middle;
      else high = middle - 1;
    }
    return cut(letters, low);
  }

  /* From where to where a bar may reach; one without an end has none. */
  function extent(bar) {
    var open = bar.end === null || bar.end === undefined;
    var from = bar.start - (bar.startBound || 0);
    var to = open ? Infinity : bar.end + (bar.endBound || 0);
    return to < from ? [bar.end - (bar.endBound || 0), bar.start + (bar.startBound || 0)] : [from, to];
  }

  function ticks(low, high, count) {
    var rough = (high - low) / count || 1;
    var power = Math.pow(10, Math.floor(Math.log10(rough)));
    var step = [1, 2, 5, 10].find(function (n) {
      return n * power >= rough;
    }) * power;
    step = Math.max(1, step);
    var found = [];
    for (var at = Math.ceil(low / step) * step; at <= high + step / 1e6; at += step) found.push(at);
    return found;
  }

  function kinds(spec) {
    var found = [];
    spec.lanes.forEach(function (lane) {
      lane.bars.forEach(function (bar) {
        if (bar.kind && !bar.hollow && !bar.plain && found.indexOf(bar.kind) < 0) found.push(bar.kind);
      });
    });
    if (!spec.kinds) return found;
    // Each keeps its hue where another is missing, which leaves a null.
    return spec.kinds
      .map(function (kind) {
        return found.indexOf(kind) < 0 ? null : kind;
      })
      .concat(
        found.filter(function (kind) {
          return spec.kinds.indexOf(kind) < 0;
        })
      );
  }

  /* spec as in akv-lanes.js, the ends of what is shown, and a width in px. Each bar's element has the bar in `akvBar`. */
  function svgOf(spec, ends, width) {
    var family = getComputedStyle(document.body).fontFamily;
    var font = "12px " + family;
    // Where there is no room beside the lanes, what they are called stands over them.
    var widest = labelWidth(spec, font);
    var over = width < NARROW || widest > Math.max(220, width * 0.3);
    var labels = over ? 0 : widest;
    var scale = function (time) {
      return labels + 6 + ((time - ends[0]) / (ends[1] - ends[0])) * (width - labels - 14);
    };
    var svg = make("svg", { class: "akv-lanes", role: "group", "aria-label": spec.summary || spec.question, width: width });
    var y = 4;
    wrapped(spec.question, "600 15px " + family, width - 8).forEach(function (line) {
      y += 19;
      svg.append(make("text", { class: "akv-lanes-question", x: 2, y: y }, line));
    });
    var named = kinds(spec);
    var top = legend(svg, named, y + 8, width, font);
    var plot = { ends: ends, scale: scale, row: ROW + (over ? OVER : 0), top: top, font: font, named: named };
    plot.bottom = top + spec.lanes.length * plot.row;
    axis(svg, plot, width < NARROW ? 4 : 6);
    (spec.windows || []).forEach(function (one) {
      windowOf(svg, plot, one);
    });
    (spec.links || []).forEach(function (link) {
      linkOf(svg, plot, link);
    });
    var called = labelsOf(spec, font, over ? width - 8 : labels - 4);
    spec.lanes.forEach(function (lane, n) {
      var middle = middleOf(plot, n);
      var words = called[n];
      var place = over
        ? { class: "akv-lanes-label", x: 4, y: middle - BAR / 2 - 6 }
        : { class: "akv-lanes-label", x: labels, y: middle + 4, "text-anchor": "end" };
      // Lines that cross a label would be read as part of it.
      if (over) svg.append(make("rect", { class: "akv-lanes-ground", x: 0, y: place.y - 11, width: wide(words, font) + 8, height: 15 }));
      var label = make("text", place, words);
      if (words !== lane.label) label.append(make("title", {}, whole(lane.label, TOLD)));
      svg.append(label);
      lane.bars.forEach(function (bar) {
        barOf(svg, plot, bar, middle, n);
      });
    });
    footer(svg, spec, plot, width, "11.5px " + family);
    svg.akvPlot = { ends: ends, left: scale(ends[0]), right: scale(ends[1]) };
    return svg;
  }

  /* The time under a place of the window. */
  function timeAt(svg, x) {
    var plot = svg.akvPlot;
    var part = (x - svg.getBoundingClientRect().left - plot.left) / (plot.right - plot.left);
    return plot.ends[0] + part * (plot.ends[1] - plot.ends[0]);
  }

  function labelWidth(spec, font) {
    return spec.lanes.reduce(function (most, lane) {
      return Math.max(most, lane.label.length > 200 ? Infinity : 12 + wide(lane.label, font));
    }, 0);
  }

  /* What lanes are called, no wider than `width`: two that are shortened alike keep the letters in which they differ. */
  function labelsOf(spec, font, width) {
    var all = spec.lanes.map(function (lane) {
      return lane.label;
    });
    var made = all.map(function (label) {
      return middled(label, font, width);
    });
    var letters = Math.max(16, Math.floor((width - wide(" [99]", font)) / wide("m", font)));
    var cut = window.akvChoice.distinct(all, letters);
    return made.map(function (label, n) {
      var alike = made.some(function (other, k) {
        return other === label && all[k] !== all[n];
      });
      return alike ? cut[n] : label;
    });
  }

  function middleOf(plot, lane) {
    return plot.top + (lane + 1) * plot.row - ROW / 2;
  }

  function footer(svg, spec, plot, width, font) {
    var y = plot.bottom + 34;
    var zero = spec.zero ? ["time 0 is " + spec.zero + " · empty: nothing recorded there"] : [];
    zero.concat(spec.footer || []).forEach(function (paragraph) {
      wrapped(paragraph, font, width - 8).forEach(function (line) {
        svg.append(make("text", { class: "akv-lanes-footer", x: 2, y: y }, line));
        y += 15.5;
      });
    });
    svg.setAttribute("height", y + 2);
    svg.setAttribute("viewBox", "0 0 " + width + " " + (y + 2));
  }

  function legend(svg, named, y, width, font) {
    if (named.filter(Boolean).length < 2) return y;
    var x = 2;
    named.forEach(function (kind, n) {
      if (kind === null) return;
      var words = shortened(kind, font, width - 30);
      var room = 22 + wide(words, font) + 14;
      if (x > 2 && x + room > width) {
        x = 2;
        y += 18;
      }
      svg.append(make("rect", { class: hueOf(n, "akv-lanes-bar"), x: x, y: y, width: 12, height: 12 }));
      svg.append(make("text", { class: "akv-lanes-label", x: x + 17, y: y + 10.5 }, words));
      x += room;
    });
    return y + 24;
  }

  /* After the last hue they come again, lighter and with a frame. */
  function hueOf(n, style) {
    return style + " akv-hue-" + (Math.max(0, n) % HUES) + (n >= HUES ? " akv-lanes-again" : "");
  }

  function axis(svg, plot, count) {
    var unit = window.akvChoice.units.find(function (one) {
      return Math.max(Math.abs(plot.ends[0]), Math.abs(plot.ends[1])) >= one[0];
    }) || [1, "ns"];
    var found = ticks(plot.ends[0], plot.ends[1], count);
    found.forEach(function (time, n) {
      var x = plot.scale(time);
      var last = n === found.length - 1;
      svg.append(make("line", { class: "akv-lanes-grid", x1: x, x2: x, y1: plot.top, y2: plot.bottom }));
      var anchor = last && n ? "end" : n === 0 ? "start" : "middle";
      var words = String(Number((time / unit[0]).toPrecision(9))) + (last ? " " + unit[1] : "");
      svg.append(make("text", { class: "akv-lanes-tick", x: x, y: plot.bottom + 14, "text-anchor": anchor }, words));
    });
  }

  function windowOf(svg, plot, one) {
    var left = plot.scale(Math.max(plot.ends[0], one.start));
    var right = plot.scale(one.end === null ? plot.ends[1] : Math.min(plot.ends[1], one.end));
    if (right < left) return;
    var place = { x: left, y: plot.top, width: right - left, height: plot.bottom - plot.top };
    var made = make("rect", Object.assign({ class: "akv-lanes-window" }, place));
    made.append(make("title", {}, one.label));
    svg.append(made);
  }

  /* A link is drawn where both of its ends are in sight: one that is cut would point at the wrong bar. */
  function linkOf(svg, plot, link) {
    var inside = [link.from, link.to].every(function (end) {
      return end.time >= plot.ends[0] && end.time <= plot.ends[1];
    });
    if (!inside) return;
    var down = link.from.lane < link.to.lane ? 1 : -1;
    var line = make("line", {
      class: "akv-lanes-link",
      x1: plot.scale(link.from.time),
      y1: middleOf(plot, link.from.lane) + (down * BAR) / 2,
      x2: plot.scale(link.to.time),
      y2: middleOf(plot, link.to.lane) - (down * BAR) / 2,
    });
    line.append(make("title", {}, link.label || "associated"));
    svg.append(line);
  }

  /* Where a bar may begin, has begun, has not ended and may end. */
  function barOf(svg, plot, bar, middle, lane) {
    var reach = extent(bar);
    var ends = plot.ends;
    if (reach[1] < ends[0] || reach[0] > ends[1]) return;
    var at = function (time) {
      return plot.scale(Math.max(ends[0], Math.min(ends[1], time)));
    };
    var open = bar.end === null || bar.end === undefined;
    var unsure = bar.startBound === null || (!open && bar.endBound === null);
    var hue = plot.named.indexOf(bar.kind);
    var group = make("g", { class: hueOf(hue, "akv-lanes-one") + (bar.plain ? " akv-lanes-plain" : "") });
    var rect = function (style, from, to) {
      var place = { x: Math.min(from, to), y: middle - BAR / 2, width: Math.max(LEAST, Math.abs(to - from)), height: BAR };
      group.append(make("rect", Object.assign({ class: style }, place)));
    };
    var a = at(reach[0]);
    var d = at(reach[1]);
    if (bar.hollow) rect("akv-lanes-hollow", a, d);
    else if (unsure) rect("akv-lanes-unsure", a, d);
    else if (!open && bar.end < bar.start) rect("akv-lanes-odd", a, d);
    else {
      var b = at(bar.start + (bar.startBound || 0));
      var c = open ? d : at(bar.end - (bar.endBound || 0));
      if (b > a || d > c) rect("akv-lanes-bound", a, d);
      if (c >= b) rect("akv-lanes-bar", b, c);
    }
    if (open) group.append(make("path", { class: "akv-lanes-open", d: "M" + (d - 7) + "," + (middle - 6) + "l7,6l-7,6" }));
    if (bar.onpick) group.append(make("line", { class: "akv-lanes-leads", x1: a, x2: Math.max(a + LEAST, d), y1: middle + BAR / 2 + 2, y2: middle + BAR / 2 + 2 }));
    if (bar.label && bar.label.length <= WIDEST && wide(bar.label, plot.font) < d - a - 8) {
      var solid = group.querySelector(".akv-lanes-bar");
      var style = "akv-lanes-label" + (solid ? " akv-lanes-in" : "");
      group.append(make("text", { class: style, x: a + 4, y: middle + 4 }, bar.label));
    }
    named(group, bar);
    group.akvBar = bar;
    group.akvLane = lane;
    group.akvMiddle = (a + d) / 2;
    svg.append(group);
  }

  function named(group, bar) {
    var words = whole(bar.title || bar.name || bar.kind, TOLD);
    group.append(make("title", {}, words));
    group.setAttribute("tabindex", "-1");
    group.setAttribute("role", bar.onpick ? "button" : "img");
    group.setAttribute("aria-label", words);
  }

  window.akvLanesDraw = { svgOf: svgOf, extent: extent, timeAt: timeAt };
})();
