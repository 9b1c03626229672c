/* Bars on lanes against one axis of time, as a reader chose them: a drawing that carries its question and its printed line,
 * and that can be looked into with the mouse and with the keyboard.
 *
 * akvLanes.draw(box, {
 *   question, summary, footer: [lines],
 *   zero: "what time 0 is", from, to: ns (optional: what is shown at first),
 *   kinds: [kind] (optional: their hues, in this order, whichever are there),
 *   views: [{label, from, to}] (optional: stretches that a button shows),
 *   lanes: [{label, bars: [{start, end, startBound, endBound, kind, name, title, label, hollow, plain, onpick}]}],
 *   windows: [{start, end, label}], links: [{from: {lane, time}, to: {lane, time}, label}],
 * })
 *
 * Times are ns from time 0. `end` null: no end on record, drawn open; an end before the start is drawn as a frame, out of
 * order. A bound is a half-width: 0 is as read, null is not known, and then no part is drawn as certain. `hollow`: not a record
 * but what is not known. `kind` gives the hue, and the legend names it; `plain`: none. `label` stands in the bar where there is
 * room, `title` is what is said of it. `onpick` is called for a click, Enter or Space.
 */
(function () {
  "use strict";

  if (window.akvLanes) return;

  var SHORTEST = 10; // ns: nobody looks closer
  var KEYS = [
    ["Tab", "into the drawing, to one bar"],
    ["left, right", "the next bar of its lane"],
    ["up, down", "the nearest bar of the next lane"],
    ["+ −", "closer, wider"],
    ["0", "the whole of it"],
    ["Enter", "follow the bar, where a line beneath it says that it leads on"],
    ["mouse", "drag over a stretch to see it closer, click twice for the whole"],
  ];
  var shown = new WeakMap(); // box -> what is shown in it

  var element = window.akvChoice.element;

  /* From the first to the last time of all bars and windows. */
  function wholeOf(spec) {
    var low = Infinity;
    var high = -Infinity;
    var take = function (from, to) {
      low = Math.min(low, from);
      high = Math.max(high, from, to === Infinity ? from : to);
    };
    spec.lanes.forEach(function (lane) {
      lane.bars.forEach(function (bar) {
        var reach = window.akvLanesDraw.extent(bar);
        take(reach[0], reach[1]);
      });
    });
    (spec.windows || []).forEach(function (one) {
      take(one.start, one.end === null ? Infinity : one.end);
    });
    return low === Infinity ? [0, 1] : [low, Math.max(high, low + 1)];
  }

  function draw(box, spec) {
    var known = shown.get(box);
    if (known) known.watch.disconnect();
    var whole = wholeOf(spec);
    var own = { box: box, spec: spec, whole: whole };
    own.view = bounded(own, [
      spec.from === undefined ? whole[0] : spec.from,
      spec.to === undefined ? whole[1] : spec.to,
    ]);
    own.place = element("div", { class: "akv-lanes-place" });
    own.said = element("p", { class: "akv-lanes-said", role: "status" }, hint(spec));
    box.textContent = "";
    // Above the drawing, which ends in its notes: what is said of a bar stands beside it.
    box.append(controls(own), own.said, own.place, keysOf());
    shown.set(box, own);
    redraw(own);
    own.watch = new ResizeObserver(function () {
      if (box.clientWidth && Math.abs(box.clientWidth - own.width) > 1) redraw(own);
    });
    own.watch.observe(box);
    return own.svg;
  }

  /* Until a bar is reached. */
  function hint(spec) {
    var leads = spec.lanes.some(function (lane) {
      return lane.bars.some(function (bar) {
        return bar.onpick;
      });
    });
    return "What a bar is stands here, when the mouse or a key reaches it." + (leads ? " One with a line beneath it leads on, by a click or Enter." : "");
  }

  function controls(own) {
    var made = element("div", { class: "akv-lanes-controls", role: "group", "aria-label": "what is shown of the time" });
    var button = function (words, name, act) {
      made.append(element("button", { type: "button", class: "akv-button", "aria-label": name, title: name, onclick: act }, words));
    };
    button("+", "closer", function () {
      zoom(own, 0.5);
    });
    button("−", "wider", function () {
      zoom(own, 2);
    });
    button("←", "earlier", function () {
      move(own, -0.5);
    });
    button("→", "later", function () {
      move(own, 0.5);
    });
    button("whole", "whole", function () {
      look(own, own.whole);
    });
    (own.spec.views || []).forEach(function (view) {
      button(view.label, view.label, function () {
        var room = (view.to - view.from) * 0.03;
        look(own, [view.from - room, view.to + room]);
      });
    });
    return made;
  }

  function keysOf() {
    var list = element("ul");
    KEYS.forEach(function (key) {
      list.append(element("li", {}, element("kbd", {}, key[0]), " " + key[1]));
    });
    return element("details", { class: "akv-fold akv-keys" }, element("summary", {}, "Keys of the drawing"), list);
  }

  function bounded(own, view) {
    var length = Math.max(SHORTEST, Math.min(view[1] - view[0], own.whole[1] - own.whole[0]));
    var from = Math.max(own.whole[0], Math.min(view[0], own.whole[1] - length));
    return [from, from + length];
  }

  function look(own, view) {
    own.view = bounded(own, view);
    redraw(own);
  }

  /* Around what is in sight of the bar that its reader reached, else around the middle. */
  function zoom(own, factor) {
    var reach = own.reached ? window.akvLanesDraw.extent(own.at.akvBar) : own.view;
    var from = Math.max(own.view[0], reach[0]);
    var to = Math.min(own.view[1], reach[1]);
    var middle = to < from ? (own.view[0] + own.view[1]) / 2 : (from + to) / 2;
    var half = ((own.view[1] - own.view[0]) * factor) / 2;
    look(own, [middle - half, middle + half]);
  }

  function move(own, part) {
    var by = (own.view[1] - own.view[0]) * part;
    look(own, [own.view[0] + by, own.view[1] + by]);
  }

  function redraw(own) {
    var bar = own.at && own.at.akvBar;
    var focused = own.place.contains(document.activeElement);
    own.width = own.box.clientWidth;
    own.svg = window.akvLanesDraw.svgOf(own.spec, own.view, Math.max(260, own.width || 640));
    own.bars = Array.from(own.svg.querySelectorAll(".akv-lanes-one"));
    own.place.textContent = "";
    own.place.append(own.svg);
    var same = own.bars.find(function (one) {
      return one.akvBar === bar;
    });
    own.at = null;
    own.reached = own.reached && !!same;
    reach(own, same || own.bars[0], focused);
    hear(own);
  }

  /* One bar of the drawing is in the order of Tab, the one that was reached last. */
  function reach(own, group, focus) {
    if (!group) return;
    if (own.at) own.at.setAttribute("tabindex", "-1");
    own.at = group;
    group.setAttribute("tabindex", "0");
    if (focus) group.focus({ preventScroll: true });
  }

  function hear(own) {
    var groupOf = function (event) {
      return event.target.closest && event.target.closest(".akv-lanes-one");
    };
    var say = function (event) {
      var group = groupOf(event);
      if (group) own.said.textContent = group.getAttribute("aria-label");
      if (!group || event.type !== "focusin") return;
      own.reached = true;
      reach(own, group, false);
    };
    own.svg.addEventListener("focusin", say);
    own.svg.addEventListener("mouseover", say);
    own.svg.addEventListener("click", function (event) {
      var group = groupOf(event);
      if (group && group.akvBar.onpick && !own.dragged) group.akvBar.onpick(event);
    });
    own.svg.addEventListener("keydown", function (event) {
      var act = keys(own, groupOf(event))[event.key];
      if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      act(event);
    });
    drag(own);
  }

  function keys(own, group) {
    var pick = group && group.akvBar.onpick;
    return {
      ArrowRight: beside(own, group, 1),
      ArrowLeft: beside(own, group, -1),
      ArrowDown: across(own, group, 1),
      ArrowUp: across(own, group, -1),
      "+": zoom.bind(null, own, 0.5),
      "=": zoom.bind(null, own, 0.5),
      "-": zoom.bind(null, own, 2),
      0: look.bind(null, own, own.whole),
      Enter: pick,
      " ": pick,
    };
  }

  function beside(own, group, by) {
    return function () {
      var lane = own.bars.filter(function (one) {
        return group && one.akvLane === group.akvLane;
      });
      reach(own, lane[lane.indexOf(group) + by], true);
    };
  }

  /* The bar of the next lane that has one which lies nearest. */
  function across(own, group, by) {
    return function () {
      if (!group) return;
      var lanes = own.bars
        .map(function (one) {
          return by * (one.akvLane - group.akvLane);
        })
        .filter(function (far) {
          return far > 0;
        });
      var lane = group.akvLane + by * Math.min.apply(null, lanes);
      var nearest = null;
      own.bars.forEach(function (one) {
        var far = Math.abs(one.akvMiddle - group.akvMiddle);
        if (one.akvLane === lane && (!nearest || far < nearest.far)) nearest = { group: one, far: far };
      });
      if (nearest) reach(own, nearest.group, true);
    };
  }

  /* Over a stretch with the mouse; a finger scrolls the page. */
  function drag(own) {
    var from = null;
    var timeAt = function (event) {
      var inside = window.akvLanesDraw.timeAt(own.svg, event.clientX);
      return Math.max(own.view[0], Math.min(own.view[1], inside));
    };
    own.svg.addEventListener("pointerdown", function (event) {
      own.dragged = false;
      from = event.pointerType === "mouse" && event.button === 0 ? { x: event.clientX, time: timeAt(event) } : null;
    });
    own.svg.addEventListener("pointerup", function (event) {
      if (!from || Math.abs(event.clientX - from.x) < 8) return;
      var to = timeAt(event);
      own.dragged = true;
      look(own, [Math.min(from.time, to), Math.max(from.time, to)]);
    });
    own.svg.addEventListener("dblclick", function () {
      look(own, own.whole);
    });
  }

  window.akvLanes = { draw: draw };
})();
