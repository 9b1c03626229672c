/* The profile of one step, as it was recorded: what is chosen stands in the address as #step=PLACE. */
(function () {
  "use strict";

  var element = window.akvChoice.element;
  var time = window.akvChoice.time;
  var short = window.akvProfile.short;
  var parts = window.akvProfileParts;

  function controls(own) {
    var move = function (by) {
      return function () {
        window.akvChoice.write({ step: Math.max(0, Math.min(own.steps.rows - 1, own.place + by)) });
      };
    };
    own.field = element("input", { type: "number", min: "0", max: String(own.steps.rows - 1), step: "1" });
    own.field.addEventListener("change", function () {
      window.akvChoice.write({ step: own.field.value });
    });
    own.back = element("button", { type: "button", class: "akv-button", onclick: move(-1) }, "previous step");
    own.next = element("button", { type: "button", class: "akv-button", onclick: move(1) }, "next step");
    var label = element("label", {}, "row of the step, 0 to " + (own.steps.rows - 1) + " in order of start ", own.field);
    return element("div", { class: "akv-steps", role: "group", "aria-label": "which step" }, own.back, label, own.next);
  }

  function drawing(spec) {
    var box = element("div", { class: "akv-profile-drawing" });
    return { box: box, spec: spec };
  }

  /* Of two choices in a row, only the last is shown. */
  function show(own) {
    var chosen = window.akvChoice.read();
    var place = "step" in chosen ? (/^\d{1,15}$/.test(chosen.step) ? Number(chosen.step) : -1) : own.about.first;
    own.unasked = !("step" in chosen);
    var turn = (own.turn = (own.turn || 0) + 1);
    if (!(Number.isInteger(place) && place >= 0 && place < own.steps.rows)) {
      own.status.textContent = "The address names no step of this run: their rows are 0 to " + (own.steps.rows - 1) + ".";
      own.body.textContent = "";
      return Promise.resolve();
    }
    own.place = place;
    own.field.value = String(place);
    own.back.disabled = place === 0;
    own.next.disabled = place === own.steps.rows - 1;
    return window.akvProfile.of(own.about, place).then(function (data) {
      return parts.gaps(own.about, data).then(function (told) {
        if (turn !== own.turn) return;
        fill(own, data, told);
      });
    });
  }

  function fill(own, data, told) {
    var about = own.about;
    var step = data.steps[0];
    own.status.textContent =
      (own.unasked ? about.unasked + " " : "") + short(step.name) + ", row " + step.place + ", " + step.kind + (step.batch === null ? "" : ", " + window.akvChoice.counted(step.batch, "request") + " in the batch") + ", drawn by " + step.source + ", of " +
      short(step.process) + ": " + (step.duration_ns === null ? "no end on record, so that it is not known how long it took" : time(step.duration_ns)) +
      (step.warm_up ? "; warm-up, in no mean" : "") + ". One record, no estimate." +
      (data.steps.length > 1 ? " Another source drew the same iteration: its rows are here too (" + data.steps.slice(1).map(drawnBy).join(", ") + ")." : "");
    var drawings = step.start_ns === null ? [] : window.akvProfileLanes.specs(about, data).map(drawing);
    own.body.textContent = "";
    drawings.forEach(function (one) {
      own.body.append(one.box);
    });
    if (step.start_ns === null) own.body.append(parts.line("The step has no time that can be used: nothing of it can be drawn."));
    own.body.append.apply(
      own.body,
      [].concat(parts.links(about, data), parts.budget(about, data), parts.layers(data), parts.phases(about, data), parts.device(about, data), told)
    );
    drawings.forEach(function (one) {
      window.akvLanes.draw(one.box, one.spec);
    });
  }

  function drawnBy(step) {
    return step.source + ": " + short(step.name) + ", row " + step.place;
  }

  /* A click further down the page changes what is drawn up here: it is brought into sight. */
  function bring(own, place) {
    var top = own.status.getBoundingClientRect().top;
    if (top < 60 || top > window.innerHeight * 0.7) place.scrollIntoView({ block: "start" });
  }

  function failed(own, error) {
    own.status.textContent = "The step could not be shown: " + ((error && error.message) || error) + ".";
    own.body.textContent = "";
  }

  window.akvReaders = window.akvReaders || {};
  window.akvReaders.profile = function (place, about) {
    return window.akvRows.open(about.rows + "steps").then(function (steps) {
      var own = { about: about, steps: steps, place: about.first };
      own.status = element("p", { role: "status", class: "akv-profile-said" });
      own.body = element("div", {});
      var bar = controls(own);
      place.textContent = "";
      place.append(bar, own.status, own.body);
      var update = function () {
        return show(own).catch(function (error) {
          failed(own, error);
        });
      };
      window.akvChoice.listen(place, function () {
        update().then(function () {
          bring(own, place);
        });
      });
      return update();
    });
  };
})();
