/* Where buttons and keys lead among the rows of a run: `own` is the reader of akv-browse.js,
 * `count` how many rows it shows. */
(function () {
  "use strict";

  if (window.akvBrowseGoes) return;

  var choice = window.akvChoice;

  function goes(own, count) {
    var to = function (options) {
      if (!own.listing) return;
      var turn = ++own.turn;
      own.search(turn, Object.assign({ count: count, back: true }, options))
        .then(function (found) {
          if (found && found.stopped) own.say("Stopped. The rows shown are as they were.");
          else if (found && found.rows.length) choice.write({ from: found.rows[0].place || null, row: null });
          else if (found) own.say("No row before these has this.");
        })
        .catch(function (error) {
          own.failed(error);
        });
    };
    return {
      first: function () {
        choice.write({ from: null, row: null });
      },
      before: function () {
        if (own.rows.length) to({ from: own.rows[0].place });
      },
      after: function () {
        if (own.next !== null && own.next !== undefined) choice.write({ from: own.next, row: null });
      },
      last: function () {
        to({});
      },
      row: function (place) {
        choice.write({ row: place, from: null });
      },
      move: function (by) {
        var body = own.parts.table.querySelector("tbody");
        if (body) window.akvRowsTable.move(body, by);
      },
      close: function () {
        if (own.picked === null || own.picked === undefined) return;
        own.back = own.picked;
        choice.write({ row: null, from: own.from });
      },
      filter: function () {
        var field = own.parts.ask.querySelector("input, select");
        if (field) field.focus();
      },
      help: function () {
        own.parts.keys.open = !own.parts.keys.open;
      },
      save: function () {
        if (!own.rows.length) return;
        var text = window.akvRowsTable.csv(own.listing, own.rows, own.about);
        window.akvBrowseParts.save(text, own.about.run + "-" + own.listedNow.name + "-" + own.rows[0].place + ".csv");
      },
    };
  }

  window.akvBrowseGoes = goes;
})();
