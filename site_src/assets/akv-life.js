/* One token of a run: chosen by its request and number, or by its row; its life as a drawing, as a table, and in words. */
(function () {
  "use strict";

  window.akvReaders = window.akvReaders || {};
  if (window.akvReaders.life) return;

  var choice = window.akvChoice;
  var element = choice.element;
  var time = choice.time;
  var ASSOCIATED =
    "What lies in a token's step is associated with it by the step alone: it is of all tokens of the step, and no cause of this one's.";

  var MANY = "This run has too many requests for a list of their names: one is found by its whole name, and the buttons of requests are off.";

  function Reader(box, about, lists) {
    this.box = box;
    this.about = about;
    this.lists = lists;
    this.asked = 0;
    this.say = element("p", { class: "akv-life-said", role: "status" });
    this.drawing = element("div", { class: "akv-life-drawing" });
    this.words = element("div", { class: "akv-life-words" });
    // Without a script it stands above the tables: beside the token is its place.
    var why = document.querySelector(".akv-why");
    box.textContent = "";
    box.append(this.form(), this.say, why || "", this.drawing, this.words);
  }

  Reader.prototype.form = function () {
    var own = this;
    var list = "akv-life-requests";
    var named = this.lists.tokens.choices("request");
    this.requests = (named || [])
      .map(function (one) {
        return one.value;
      })
      .filter(function (name) {
        return name !== null;
      })
      .sort(new Intl.Collator("en", { numeric: true }).compare);
    this.request = element("input", { list: list, autocomplete: "off", spellcheck: "false", size: 14 });
    this.number = element("input", { type: "number", step: 1, size: 6, value: 0 });
    this.buttons = {};
    var options = element("datalist", { id: list });
    this.requests.forEach(function (name) {
      options.append(element("option", { value: name }));
    });
    var form = element(
      "form",
      { class: "akv-ask akv-life-form", "aria-label": "which token" },
      element("label", {}, "request ", this.request),
      element("label", {}, "token (from 0) ", this.number),
      element("button", { type: "submit", class: "akv-button" }, "show"),
      options
    );
    if (!named) form.append(element("span", {}, MANY));
    ["previous token", "next token", "previous request", "next request"].forEach(function (words) {
      own.buttons[words] = element("button", { type: "button", class: "akv-button" }, words);
      form.append(own.buttons[words]);
    });
    form.addEventListener("submit", function (event) {
      event.preventDefault();
      choice.write({ token: null, request: own.request.value, number: own.number.value || null });
    });
    return form;
  };

  /* What the address says. A later choice that is answered first is not undone by an earlier one. */
  Reader.prototype.show = function (chosen) {
    var own = this;
    var asked = ++own.asked;
    own.say.textContent = "Loading …";
    return window.akvLifeData
      .token(own.lists, chosen, own.about.first)
      .then(function (found) {
        if (!found.token) return [found, null];
        return window.akvLifeData.around(own.lists, found.token).then(function (around) {
          return [found, around];
        });
      })
      .then(function (found) {
        if (asked !== own.asked) return;
        own.drawing.textContent = "";
        own.words.textContent = "";
        own.say.textContent = found[0].why || "";
        if (found[0].token) own.draw(found[0], found[1], chosen);
      })
      .catch(function (error) {
        if (asked === own.asked) own.say.textContent = "This token could not be read: " + error.message + ".";
      });
  };

  /* A link far below the drawing changes it: it is brought into view. */
  Reader.prototype.look = function () {
    var place = this.say.getBoundingClientRect();
    if (place.bottom < 0 || place.top > window.innerHeight) this.box.scrollIntoView({ block: "start" });
  };

  function pick(place) {
    choice.write({ token: place, request: null, number: null });
  }

  Reader.prototype.draw = function (found, around, chosen) {
    var row = found.token;
    var about = this.about;
    var segments = window.akvLifeData.segments(row, about.milestones);
    var sums = sumsOf(segments);
    var spec = window.akvLifeLanes.spec(about, row, segments, around, pick);
    var lead = told(about, row, segments, sums) + meanwhile(around);
    spec.question = "How did token " + row.number + " of request " + row.request + " live?";
    spec.summary = spec.question + " " + lead;
    spec.zero = segments.length ? "“" + about.milestones[segments[0].from].word + "”, where this life begins" : "the beginning of its step";
    spec.footer = about.footer.concat(ASSOCIATED, bounds(row, segments));
    if (segments.length) {
      var room = sums.life * 0.02;
      spec.from = -room;
      spec.to = sums.life + room;
    }
    var unasked = chosen.token === undefined && chosen.request === undefined;
    this.say.textContent = (unasked ? about.unasked : "") + lead;
    this.request.value = row.request;
    this.number.value = row.number;
    this.lead(row, around);
    window.akvLanes.draw(this.drawing, spec);
    this.words.append(window.akvLifeWords.of(about, this.lists, found, segments, sums, around));
  };

  /* Which steps ran while it waited for its own, and until its text, which has one time with that of a later token, was seen. */
  function meanwhile(around) {
    var said = [];
    if (around.waited && around.waited.rows.length) said.push("While it waited for its step " + kindsOf(around.waited) + " ran.");
    if (around.held) {
      var steps = around.held.steps.rows.length ? "; until it was seen " + kindsOf(around.held.steps) + " ran after its own" : "";
      said.push("Its text came with that of token " + around.held.token.number + ", at the same time" + steps + ".");
    }
    return said.map(function (one) { return " " + one; }).join("");
  }

  /* "7 prefill steps, 1 decode step": of those that are drawn, and how many there are in all where that is more. */
  function kindsOf(steps) {
    var kinds = new Map();
    steps.rows.forEach(function (step) {
      var kind = step.kind || "other";
      kinds.set(kind, (kinds.get(kind) || 0) + 1);
    });
    var said = Array.from(kinds, function (one) {
      return window.akvChoice.counted(one[1], one[0] + " step");
    });
    return said.join(", ") + (steps.all > steps.rows.length ? ", of " + steps.all.toLocaleString("en") + " in all," : "");
  }

  function sumsOf(segments) {
    var sums = { life: 0, unknown: 0, holes: 0 };
    segments.forEach(function (segment) {
      sums.life += segment.end - segment.start;
      if (!segment.missing.length) return;
      sums.unknown += segment.end - segment.start;
      sums.holes += 1;
    });
    return sums;
  }

  function told(about, row, segments, sums) {
    if (row.tokens !== null && row.tokens < 1) return "This is a chunk without a token: it has no life.";
    if (!segments.length) return "Fewer than two of its milestones are on record: how long it lived is not known.";
    var last = about.milestones[segments[segments.length - 1].to];
    var unknown = sums.holes
      ? time(sums.unknown) + " of it, " + window.akvLifeWords.share(sums.unknown, sums.life) + ", unknown inside"
      : "each milestone between the two is on record";
    return (
      "It lived " + time(sums.life) + ", from " + about.milestones[segments[0].from].word + " to " + last.word + " (one record), in " +
      choice.counted(segments.length, "segment") + "; " + unknown + "."
    );
  }

  function bounds(row, segments) {
    var device = segments.some(function (segment) {
      return segment.startBound !== 0 || segment.endBound !== 0;
    });
    if (!device) return ["this life has no end of the device's clock"];
    return [
      row.device_bound_ns === null
        ? "device milestones of this token: bound unknown, unproven"
        : "device milestones of this token: " + choice.bound(row.device_bound_ns),
    ];
  }

  /* Where the buttons lead from here; one that leads nowhere is off. */
  Reader.prototype.lead = function (row, around) {
    var own = this;
    var at = own.requests.indexOf(String(row.request));
    var set = function (words, act) {
      own.buttons[words].disabled = !act;
      own.buttons[words].onclick = act;
    };
    var to = function (neighbour) {
      return neighbour ? pick.bind(null, neighbour.place) : null;
    };
    var first = function (name) {
      if (at < 0 || name === undefined) return null;
      return function () {
        choice.write({ token: null, request: name, number: null });
      };
    };
    set("previous token", to(around.before));
    set("next token", to(around.after));
    set("previous request", first(own.requests[at - 1]));
    set("next request", first(own.requests[at + 1]));
  };

  window.akvReaders.life = function (box, about) {
    return window.akvLifeData.open(about).then(function (lists) {
      var reader = new Reader(box, about, lists);
      choice.listen(box, function (chosen) {
        reader.show(chosen).then(function () {
          reader.look();
        });
      });
      return reader.show(choice.read());
    });
  };
})();
