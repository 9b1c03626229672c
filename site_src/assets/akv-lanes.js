/* Bars on lanes against one axis of time, as a reader chose them: a drawing that carries its question and its printed line.
 *
 * akvLanes.draw(box, {
 *   question, summary, footer: [lines],
 *   zero: "what time 0 is", from, to: ns (optional: what is shown of the axis),
 *   lanes: [{label, bars: [{start, end, startBound, endBound, kind, name, hollow, onpick}]}],
 *   windows: [{start, end, label}], links: [{from: {lane, time}, to: {lane, time}, label}],
 * })
 *
 * Times are ns from time 0. `end` null: no end on record, drawn open. A bound is a half-width: 0 is as read, null is not
 * known, and then no part is drawn as certain. `hollow`: not a record but what is not known.
 */
(function () {
  "use strict";

  if (window.akvLanes) return;

  var SVG = "http://www.w3.org/2000/svg";
  var ROW = 26;
  var BAR = 16;
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

  function wrapped(text, font, width) {
    pen.font = font;
    var lines = [];
    var line = "";
    String(text)
      .split(" ")
      .forEach(function (word) {
        var longer = line ? line + " " + word : word;
        if (!line || pen.measureText(longer).width <= width) line = longer;
        else {
          lines.push(line);
          line = word;
        }
      });
    if (line) lines.push(line);
    return lines;
  }

  function shortened(text, font, width) {
    pen.font = font;
    var kept = Array.from(String(text));
    if (pen.measureText(text).width <= width) return String(text);
    while (kept.length > 1 && pen.measureText(kept.join("") + "…").width > width) kept.pop();
    return kept.join("") + "…";
  }

  function ticks(low, high) {
    var rough = (high - low) / 6 || 1;
    var power = Math.pow(10, Math.floor(Math.log10(rough)));
    var step = [1, 2, 5, 10].find(function (n) {
      return n * power >= rough;
    }) * power;
    step = Math.max(1, step);
    var found = [];
    for (var at = Math.ceil(low / step) * step; at <= high + step / 1e6; at += step) found.push(at);
    return found;
  }

  function reach(spec) {
    var low = Infinity;
    var high = -Infinity;
    spec.lanes.forEach(function (lane) {
      lane.bars.forEach(function (bar) {
        low = Math.min(low, bar.start - (bar.startBound || 0));
        high = Math.max(high, bar.start, bar.end === null ? bar.start : bar.end + (bar.endBound || 0));
      });
    });
    (spec.windows || []).forEach(function (window_) {
      low = Math.min(low, window_.start);
      if (window_.end !== null) high = Math.max(high, window_.end);
    });
    if (low === Infinity) return [0, 1];
    return [spec.from === undefined ? low : spec.from, Math.max(spec.to === undefined ? high : spec.to, low + 1)];
  }

  function kinds(spec) {
    var found = [];
    spec.lanes.forEach(function (lane) {
      lane.bars.forEach(function (bar) {
        if (bar.kind && !bar.hollow && found.indexOf(bar.kind) < 0) found.push(bar.kind);
      });
    });
    return found;
  }

  function draw(box, spec) {
    var width = Math.max(260, box.clientWidth || 640);
    var family = getComputedStyle(document.body).fontFamily;
    var labelFont = "12px " + family;
    pen.font = labelFont;
    var narrow = width < 560;
    var labels = narrow
      ? 0
      : Math.min(
          220,
          12 +
            spec.lanes.reduce(function (most, lane) {
              return Math.max(most, pen.measureText(lane.label).width);
            }, 0)
        );
    var room = width - labels - 14;
    var ends = reach(spec);
    var scale = function (time) {
      return labels + 6 + ((time - ends[0]) / (ends[1] - ends[0])) * room;
    };
    var svg = make("svg", { class: "akv-lanes", role: "img", "aria-label": spec.summary || spec.question, width: width });
    var y = 4;
    wrapped(spec.question, "600 15px " + family, width - 8).forEach(function (line) {
      y += 19;
      svg.append(make("text", { class: "akv-lanes-question", x: 2, y: y }, line));
    });
    y += 8;
    var named = kinds(spec);
    y = legend(svg, named, y, width, labelFont);
    var top = y;
    var row = ROW + (narrow ? 14 : 0);
    var bottom = top + spec.lanes.length * row;
    axis(svg, ends, scale, top, bottom);
    (spec.windows || []).forEach(function (window_) {
      var left = scale(Math.max(ends[0], window_.start));
      var right = scale(window_.end === null ? ends[1] : Math.min(ends[1], window_.end));
      if (right < left) return;
      var made = make("rect", { class: "akv-lanes-window", x: left, y: top, width: right - left, height: bottom - top });
      made.append(make("title", {}, window_.label));
      svg.append(made);
    });
    spec.lanes.forEach(function (lane, n) {
      var middle = top + n * row + row - ROW / 2;
      var words = shortened(lane.label, labelFont, narrow ? width - 8 : labels - 4);
      svg.append(
        make(
          "text",
          narrow
            ? { class: "akv-lanes-label", x: 2, y: middle - BAR / 2 - 3 }
            : { class: "akv-lanes-label", x: labels, y: middle + 4, "text-anchor": "end" },
          words
        )
      );
      lane.bars.forEach(function (bar) {
        one(svg, bar, scale, ends, middle, named.indexOf(bar.kind));
      });
    });
    (spec.links || []).forEach(function (link) {
      var at = function (end) {
        return top + end.lane * row + row - ROW / 2;
      };
      var line = make("line", {
        class: "akv-lanes-link",
        x1: scale(link.from.time),
        y1: at(link.from) + BAR / 2,
        x2: scale(link.to.time),
        y2: at(link.to) - BAR / 2,
      });
      line.append(make("title", {}, link.label || "associated"));
      svg.append(line);
    });
    y = bottom + 34;
    footer(spec).forEach(function (paragraph) {
      wrapped(paragraph, "11.5px " + family, width - 8).forEach(function (line) {
        svg.append(make("text", { class: "akv-lanes-footer", x: 2, y: y }, line));
        y += 15.5;
      });
    });
    svg.setAttribute("height", y + 2);
    svg.setAttribute("viewBox", "0 0 " + width + " " + (y + 2));
    box.textContent = "";
    box.append(svg);
    return svg;
  }

  function footer(spec) {
    return (spec.zero ? ["time 0 is " + spec.zero + " · empty: nothing recorded there"] : []).concat(spec.footer || []);
  }

  function legend(svg, named, y, width, font) {
    if (named.length < 2) return y;
    var x = 2;
    pen.font = font;
    named.forEach(function (kind, n) {
      var words = shortened(kind, font, width - 30);
      var wide = 22 + pen.measureText(words).width + 14;
      if (x > 2 && x + wide > width) {
        x = 2;
        y += 18;
      }
      svg.append(make("rect", { class: "akv-lanes-bar akv-hue-" + (n % 6), x: x, y: y, width: 12, height: 12 }));
      svg.append(make("text", { class: "akv-lanes-label", x: x + 17, y: y + 10.5 }, words));
      x += wide;
    });
    return y + 24;
  }

  function axis(svg, ends, scale, top, bottom) {
    var unit = [
      [1e9, "s"],
      [1e6, "ms"],
      [1e3, "us"],
      [1, "ns"],
    ].find(function (one) {
      return Math.max(Math.abs(ends[0]), Math.abs(ends[1])) >= one[0];
    }) || [1, "ns"];
    var found = ticks(ends[0], ends[1]);
    found.forEach(function (time, n) {
      var x = scale(time);
      svg.append(make("line", { class: "akv-lanes-grid", x1: x, x2: x, y1: top, y2: bottom }));
      svg.append(
        make(
          "text",
          {
            class: "akv-lanes-tick",
            x: x,
            y: bottom + 14,
            "text-anchor": n === 0 ? "start" : n === found.length - 1 ? "end" : "middle",
          },
          String(Number((time / unit[0]).toPrecision(6))) + (n === found.length - 1 ? " " + unit[1] : "")
        )
      );
    });
  }

  /* Where a bar may begin, has begun, has not ended and may end. */
  function one(svg, bar, scale, ends, middle, hue) {
    var clamp = function (x) {
      return Math.max(scale(ends[0]), Math.min(scale(ends[1]), x));
    };
    var open = bar.end === null || bar.end === undefined;
    var unsure = bar.startBound === null || (!open && bar.endBound === null);
    var startBound = bar.startBound || 0;
    var endBound = bar.endBound || 0;
    var a = clamp(scale(bar.start - startBound));
    var d = open ? scale(ends[1]) : clamp(scale(bar.end + endBound));
    if (d < scale(ends[0]) || a > scale(ends[1])) return;
    var group = make("g", { class: "akv-lanes-one akv-hue-" + (Math.max(0, hue) % 6) });
    var rect = function (style, from, to) {
      var left = Math.min(from, to);
      group.append(
        make("rect", {
          class: style,
          x: left,
          y: middle - BAR / 2,
          width: Math.max(LEAST, Math.abs(to - from)),
          height: BAR,
        })
      );
    };
    if (bar.hollow) rect("akv-lanes-hollow", a, d);
    else if (unsure) rect("akv-lanes-unsure", a, d);
    else {
      var b = clamp(scale(bar.start + startBound));
      var c = open ? d : clamp(scale(bar.end - endBound));
      if (b > a || d > c) rect("akv-lanes-bound", a, d);
      if (c >= b) rect("akv-lanes-bar", b, c);
    }
    if (open) {
      group.append(
        make("path", {
          class: "akv-lanes-open",
          d: "M" + (d - 7) + "," + (middle - 6) + "l7,6l-7,6",
        })
      );
    }
    group.append(make("title", {}, bar.title || bar.name || bar.kind || ""));
    if (bar.onpick) {
      group.setAttribute("tabindex", "0");
      group.setAttribute("role", "button");
      group.setAttribute("aria-label", bar.title || bar.name || bar.kind || "");
      group.addEventListener("click", bar.onpick);
      group.addEventListener("keydown", function (event) {
        if (event.key === "Enter" || event.key === " ") {
          event.preventDefault();
          bar.onpick(event);
        }
      });
    }
    svg.append(group);
  }

  window.akvLanes = { draw: draw };
})();
