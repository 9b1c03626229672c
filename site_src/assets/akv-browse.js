/* Every row of a run: a listing, what is asked of it, a hundred rows at a time, and any row in full.
 *
 * All that is chosen stands in the address: of (the listing), a column's name for what is asked of it (akv-filter.js), from
 * (the place where the rows shown begin), row (the row shown in full).
 */
(function () {
  "use strict";

  var COUNT = 100;
  var FEW = 8; // pieces that are looked through, and their rows counted, without a word on how far it is
  var UNASKED = 1500000; // bytes of pieces after which a search that has found rows waits until the reader asks to look on
  var choice = window.akvChoice;
  var element = choice.element;
  var grouped = window.akvFilter.grouped;
  var counted = choice.counted;

  var parts = window.akvBrowseParts;
  var button = parts.button;

  window.akvReaders = window.akvReaders || {};
  window.akvReaders.browse = function (place, about) {
    return new Browse(place, about).start();
  };

  function Browse(place, about) {
    this.place = place;
    this.about = about;
    this.turn = 0; // a search that a later choice overtook ends by itself
    this.rows = [];
  }

  Browse.prototype.start = function () {
    var own = this;
    own.parts = {
      question: element("p", { class: "akv-question" }),
      listings: element("p", { class: "akv-tabs", role: "group", "aria-label": "Kinds of rows" }),
      ask: element("div"),
      chosen: element("p", { class: "akv-chosen" }),
      status: element("p", { class: "akv-browse-said", role: "status" }),
      count: element("p", { class: "akv-count" }),
      steps: element("p", { class: "akv-steps" }),
      detail: element("div"),
      table: element("div", { class: "akv-scroll", role: "group", "aria-label": "rows", tabindex: "0" }),
      notes: element("div", { class: "akv-notes" }),
      keys: parts.keys(),
    };
    own.place.textContent = "";
    Object.keys(own.parts).forEach(function (name) {
      own.place.append(own.parts[name]);
    });
    own.goes = window.akvBrowseGoes(own, COUNT);
    own.buttons = parts.steps(own.parts.steps, own.goes);
    choice.listen(own.place, function () {
      own.show();
    });
    parts.listen(own.place, own.goes);
    return own.show();
  };

  Browse.prototype.listed = function (name) {
    return this.about.kinds.find(function (listed) {
      return listed.name === name;
    });
  };

  /* What the address asks for, shown; what goes wrong on the way is said in a line. */
  Browse.prototype.show = function () {
    var own = this;
    var chosen = choice.read();
    var listed = chosen.of ? own.listed(chosen.of) : own.about.kinds[0];
    var turn = ++own.turn;
    own.parts.status.textContent = "";
    if (!listed) {
      own.clear();
      parts.tabs(own.parts.listings, own.about.kinds, "");
      own.say(
        (chosen.of && Object.prototype.hasOwnProperty.call(own.about.absent, chosen.of) && own.about.absent[chosen.of]) ||
          (chosen.of ? "No kind of rows has the name “" + chosen.of + "”." : "This run has no rows.")
      );
      return Promise.resolve();
    }
    parts.tabs(own.parts.listings, own.about.kinds, listed.name);
    return own
      .open(listed)
      .then(function (listing) {
        if (turn !== own.turn) return undefined;
        return own.ask(listing, listed, chosen, turn);
      })
      .catch(function (error) {
        if (turn === own.turn) own.failed(error);
      });
  };

  Browse.prototype.open = function (listed) {
    return window.akvRows.open(this.about.rows + listed.name);
  };

  Browse.prototype.ask = function (listing, listed, chosen, turn) {
    var own = this;
    var asked = window.akvFilter.of(listing, chosen);
    if (own.listing !== listing) {
      // Who chose another kind by a link further down sees it.
      if (own.listing && own.place.getBoundingClientRect().top < 0) own.place.scrollIntoView();
      own.formNow = window.akvFilter.form(listing, listed.pick, function (name, text) {
        var changes = { of: listed.name, from: null, row: null };
        changes[name] = text;
        choice.write(changes);
      });
      own.parts.ask.textContent = "";
      own.parts.ask.append(own.formNow.element);
    }
    own.listing = listing;
    own.listedNow = listed;
    own.asked = asked;
    own.formNow.show(asked.texts);
    own.parts.question.textContent = listing.title;
    parts.chosen(own.parts.chosen, asked, listed.name);
    var row = /^\d+$/.test(chosen.row || "") ? Number(chosen.row) : null;
    var narrow = Object.keys(asked.filter).length > 0;
    var all = own.all;
    own.all = false;
    own.from = /^\d+$/.test(chosen.from || "") ? Number(chosen.from) : 0;
    if (chosen.from === undefined && row !== null && row < listing.rows) own.from = narrow ? row : row - (row % COUNT);
    return own
      .search(turn, { from: own.from, count: COUNT }, all ? Infinity : UNASKED)
      .then(function (found) {
        if (found) own.fill(found, chosen, row);
        return own.full(row, turn);
      })
      .then(function () {
        if (turn !== own.turn) return undefined;
        if (own.stopped) return own.uncounted();
        if (own.from === 0 && own.next === null) return own.counted(own.rows.length);
        var pieces = listing.pieces(asked.filter);
        var told = listing.total(asked.filter) !== null || (pieces.length <= FEW && bytesOf(listing, pieces) <= UNASKED);
        return told ? own.count(turn) : own.uncounted();
      });
  };

  function bytesOf(listing, pieces) {
    return pieces.reduce(function (sum, number) {
      return sum + listing.bytes[number];
    }, 0);
  }

  /* Rows of what is asked now, with a word on how far it is and a way to stop it; null where a later choice overtook it.
     It goes on, piece after piece, until there are rows to show; with some found it stops by itself after `most` bytes. */
  Browse.prototype.search = function (turn, options, most) {
    var own = this;
    var listing = own.listing;
    var pieces = listing.pieces(own.asked.filter).filter(function (number) {
      return options.back || listing.firsts[number] + listing.counts[number] > (options.from || 0);
    });
    own.stopped = false;
    options.progress = function (n, of, found) {
      own.progress(n, of, counted(found, "row") + " found so far");
      if (found && bytesOf(listing, pieces.slice(0, n + 1)) > most) own.stopped = true;
      return turn === own.turn && !own.stopped;
    };
    return own.listing.find(own.asked.filter, options).then(function (found) {
      if (turn !== own.turn) return null;
      own.quiet();
      return found;
    });
  };

  Browse.prototype.progress = function (n, of, said) {
    var own = this;
    if (of <= FEW) return;
    if (!own.parts.status.querySelector("button")) {
      own.parts.status.append(
        element("span"),
        button("stop", function () {
          own.stopped = true;
        })
      );
    }
    own.parts.status.firstChild.textContent = "Looked through " + n + " of " + counted(of, "piece") + "; " + said + ". ";
  };

  /* What was said of a search that is over goes. */
  Browse.prototype.quiet = function () {
    if (this.parts.status.querySelector("button")) this.say("");
  };

  Browse.prototype.fill = function (found, chosen, picked) {
    var own = this;
    own.rows = found.rows;
    own.next = found.next;
    own.parts.table.textContent = "";
    own.parts.notes.textContent = "";
    own.buttons({ before: own.from > 0, after: found.next !== null, rows: found.rows.length > 0 });
    if (found.stopped) own.cutShort();
    if (!found.rows.length) {
      if (!found.stopped) own.say(own.from ? "No row from row " + grouped(own.from) + " on has this." : "No row has this.");
      return;
    }
    var made = window.akvRowsTable.table(own.listing, found.rows, {
      chosen: Object.assign({}, chosen, { of: own.listedNow.name, from: own.from }),
      picked: picked,
      refers: own.listedNow.refers,
      about: own.about,
      sorted: function (name, way) {
        own.say("Sorted by " + name + ", " + way + ": " + counted(own.rows.length, "row") + " shown, among each other, and no others.");
      },
    });
    own.parts.table.append(made.element);
    window.akvRowsTable.notes(own.listing, made.empty, own.about, own.listedNow.said).forEach(function (text) {
      own.parts.notes.append(element("p", {}, text));
    });
    if (own.back !== undefined) {
      window.akvRowsTable.focus(made.element.tBodies[0], own.back);
      own.back = undefined;
    }
  };

  /* A search that ended before its rows did. */
  Browse.prototype.cutShort = function () {
    var own = this;
    own.say("Stopped: more rows may have this. “Next” looks on from there. ");
    own.parts.status.append(
      button("look through all", function () {
        own.all = true;
        own.show();
      })
    );
  };

  Browse.prototype.count = function (turn) {
    var own = this;
    own.stopped = false;
    own.parts.count.textContent = "Counting …";
    return own.listing
      .count(own.asked.filter, function (n, of, rows) {
        own.progress(n, of, counted(rows, "row") + " counted so far");
        return turn === own.turn && !own.stopped;
      })
      .then(function (counted) {
        if (turn !== own.turn) return;
        own.quiet();
        if (counted.stopped) return own.uncounted();
        return own.found(turn, counted).then(function () {
          if (turn === own.turn) own.counted(counted.rows);
        });
      });
  };

  /* What was counted is shown, where a search was stopped before it came there. */
  Browse.prototype.found = function (turn, counted) {
    var own = this;
    if (own.rows.length || own.from || !counted.rows) return Promise.resolve();
    own.say("");
    return own.search(turn, { from: counted.first || 0, count: COUNT }, UNASKED).then(function (found) {
      if (found) own.fill(found, choice.read(), null);
    });
  };

  Browse.prototype.counted = function (rows) {
    this.parts.count.textContent = this.shownOf() + "of " + grouped(rows) + ", counted.";
  };

  Browse.prototype.uncounted = function () {
    var own = this;
    own.parts.count.textContent = "";
    own.parts.count.append(
      own.shownOf() + "of how many is not counted. ",
      button("count them", function () {
        own.count(own.turn).catch(function (error) {
          own.failed(error);
        });
      })
    );
  };

  Browse.prototype.shownOf = function () {
    var rows = this.rows;
    if (!rows.length) return "No row shown ";
    return (
      counted(rows.length, "row") + " shown (" + grouped(rows[0].place) + " to " +
      grouped(rows[rows.length - 1].place) + ") "
    );
  };

  /* One row in full, with what leads on from it. */
  Browse.prototype.full = function (row, turn) {
    var own = this;
    if (row === null) {
      own.parts.detail.textContent = "";
      own.picked = null;
      return Promise.resolve();
    }
    return own.listing.at(row).then(function (found) {
      if (turn !== own.turn) return undefined;
      own.parts.detail.textContent = "";
      if (!found) {
        own.picked = null;
        own.say("There is no row " + grouped(row) + ": the last is " + grouped(own.listing.rows - 1) + ".");
        return undefined;
      }
      return window.akvRowsTable.same(own.about, own.listedNow, row).then(function (same) {
        if (turn !== own.turn) return;
        var made = window.akvRowsTable.detail(own.listing, found, {
          title: "Row " + grouped(row) + " of " + grouped(own.listing.rows) + ": " + own.listedNow.title.toLowerCase(),
          refers: own.listedNow.refers,
          about: own.about,
          more: window.akvRowsTable.leads(own.about, own.listedNow, found, own.listing.rows).concat(same),
        });
        made.append(
          button("close", own.goes.close)
        );
        own.parts.detail.append(made);
        if (own.picked !== undefined && own.picked !== row) made.focus();
        own.picked = row;
      });
    });
  };

  Browse.prototype.say = function (text) {
    this.parts.status.textContent = text;
  };

  Browse.prototype.failed = function (error) {
    this.parts.table.textContent = "";
    this.parts.count.textContent = "";
    this.say("These rows could not be read: " + ((error && error.message) || error) + ".");
  };

  Browse.prototype.clear = function () {
    var own = this;
    own.listing = null;
    ["question", "ask", "chosen", "count", "detail", "table", "notes"].forEach(function (name) {
      own.parts[name].textContent = "";
    });
    own.buttons({ before: false, after: false, rows: false });
  };
})();
