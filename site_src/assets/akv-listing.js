/* Rows of a run, loaded on demand.
 *
 * A listing is an index and pieces of a few thousand rows, each a script that calls one function, since from file:// a
 * browser loads nothing else. At most CACHE bytes of pieces are held; which pieces a question needs is in the index.
 * Rows are plain objects: a column's name and its value, null where it is not known, a string where no number is exact;
 * `place` is the row's number in its listing. Times count from the run's origin, in nanoseconds.
 */
(function () {
  "use strict";

  if (window.akvRows) return;

  var CACHE = 2500000;
  var Piece = window.akvListingPiece;
  var given = new Map(); // address of a script -> what it handed over
  var opened = new Map(); // address of a listing -> promise of it
  var held = []; // pieces, the one used last at the end
  var most = 0; // bytes of pieces that were held at once

  window.akvListing = function (index) {
    given.set(document.currentScript.src, index);
  };
  window.akvPiece = function (number, columns) {
    given.set(document.currentScript.src, columns);
  };

  function load(url) {
    return new Promise(function (resolve, reject) {
      var script = document.createElement("script");
      script.src = url;
      script.onload = function () {
        script.remove();
        var found = given.get(script.src);
        given.delete(script.src);
        if (found === undefined) reject(new Error(nameOf(url) + " holds no rows"));
        else resolve(found);
      };
      script.onerror = function () {
        script.remove();
        reject(new Error(nameOf(url) + " could not be loaded"));
      };
      document.head.appendChild(script);
    });
  }

  /* An address as a person would find the file: the listing's folder and the file. */
  function nameOf(url) {
    return decodeURIComponent(url.split("/").slice(-2).join("/"));
  }

  /* The listing at an address such as "../data/rows/r1/calls", relative to the page. */
  function open(base) {
    var url = new URL(base.replace(/\/?$/, "/"), document.baseURI).href;
    if (!opened.has(url)) {
      var promise = load(url + "index.js").then(function (index) {
        return new Listing(url, index);
      });
      opened.set(url, promise);
      promise.catch(function () {
        opened.delete(url);
      });
    }
    return opened.get(url);
  }

  function Listing(url, index) {
    var firsts = [];
    var first = 0;
    index.pieces.forEach(function (rows) {
      firsts.push(first);
      first += rows;
    });
    this.url = url;
    this.title = index.title;
    this.rows = index.rows;
    this.columns = index.columns;
    this.ranges = index.ranges;
    this.values = index.values;
    this.bytes = index.bytes;
    this.counts = index.pieces;
    this.firsts = firsts;
    this.loading = new Map();
  }

  Listing.prototype.column = function (name) {
    return this.columns.find(function (column) {
      return column.name === name;
    });
  };

  /* What a reader may choose in a column, with how many rows each has; null where there are too many. A value of null is
     that of rows where it is not known. */
  Listing.prototype.choices = function (name) {
    var values = this.values[name];
    if (!values) return null;
    return values.of.map(function (value, at) {
      return { value: value, rows: values.rows[at] };
    });
  };

  Listing.prototype.piece = function (number) {
    var own = this;
    var at = held.findIndex(function (piece) {
      return piece.listing === own && piece.number === number;
    });
    if (at >= 0) {
      var piece = held.splice(at, 1)[0];
      held.push(piece);
      return Promise.resolve(piece);
    }
    if (!own.loading.has(number)) {
      own.loading.set(
        number,
        load(own.url + number + ".js")
          .then(function (columns) {
            var made = new Piece(own, number, columns);
            if (!made.whole()) {
              throw new Error(nameOf(own.url + number + ".js") + " is of another build: load the page again");
            }
            held.push(made);
            letGo();
            return made;
          })
          .finally(function () {
            own.loading.delete(number);
          })
      );
    }
    return own.loading.get(number);
  };

  function letGo() {
    var bytes = held.reduce(function (sum, piece) {
      return sum + piece.bytes;
    }, 0);
    most = Math.max(most, bytes);
    while (bytes > CACHE && held.length > 1) bytes -= held.shift().bytes;
  }

  /* The pieces that may hold rows of a filter, in order. A filter is {column: value}, {column: {min, max}} or
     {column: {has: part of a text}}; a value of null asks for rows where it is not known. */
  Listing.prototype.pieces = function (filter) {
    var own = this;
    return own.counts
      .map(function (_, number) {
        return number;
      })
      .filter(function (number) {
        return Object.keys(filter).every(function (name) {
          return own.mayHold(number, name, filter[name]);
        });
      });
  };

  Listing.prototype.mayHold = function (number, name, wanted) {
    var range = this.ranges[name];
    var values = this.values[name];
    if (wanted !== null && typeof wanted === "object") {
      if ("has" in wanted || !range) return true;
      var reach = range[number];
      return !!reach && !(wanted.min > reach[1]) && !(wanted.max < reach[0]);
    }
    if (values && values.pieces) return this.inPiece(values, wanted, number) > 0;
    if (!range || typeof wanted !== "number") return true;
    return !!range[number] && range[number][0] <= wanted && wanted <= range[number][1];
  };

  Listing.prototype.inPiece = function (values, value, number) {
    var at = placeOf(values, value);
    if (at < 0) return 0;
    var where = values.pieces[at];
    for (var n = 0; n < where.length; n += 2) if (where[n] === number) return where[n + 1];
    return 0;
  };

  function placeOf(values, value) {
    return values.of.indexOf(value === null ? null : String(value));
  }

  /* How many rows a filter has where the index alone tells it, else null. */
  Listing.prototype.total = function (filter) {
    var names = Object.keys(filter);
    if (!names.length) return this.rows;
    var wanted = filter[names[0]];
    var values = this.values[names[0]];
    if (names.length > 1 || !values || (wanted !== null && typeof wanted === "object")) return null;
    var at = placeOf(values, wanted);
    return at < 0 ? 0 : values.rows[at];
  };

  function matches(value, wanted) {
    if (wanted === null || typeof wanted !== "object") {
      // A number in an address is a text, and the other way round; two of one type need no look at their texts.
      if (value === wanted || value === null || wanted === null) return value === wanted;
      return typeof value !== typeof wanted && String(value) === String(wanted);
    }
    if (value === null || value === undefined) return false;
    if ("has" in wanted) return String(value).toLowerCase().includes(String(wanted.has).toLowerCase());
    var number = Number(value);
    return number === number && !(number < wanted.min) && !(number > wanted.max);
  }

  /* Calls back with each piece of a filter, the numbers of its rows in it, and how many of how many pieces that makes, one
     piece after another: callback(piece, rows, n, of). A call that returns false ends it. `from`: the place to begin at;
     with `back` the place to begin before, and pieces and rows come from the last to the first. */
  Listing.prototype.each = function (filter, callback, from, back) {
    var own = this;
    var names = Object.keys(filter);
    var low = back ? 0 : from || 0;
    var high = back && from !== undefined && from !== null ? from : own.rows;
    var pieces = own.pieces(filter).filter(function (number) {
      return own.firsts[number] + own.counts[number] > low && own.firsts[number] < high;
    });
    if (back) pieces.reverse();
    function next(n) {
      if (n >= pieces.length) return Promise.resolve();
      return own.piece(pieces[n]).then(function (piece) {
        var rows = rowsOf(piece, names, filter, low, high);
        if (back) rows.reverse();
        if (callback(piece, rows, n + 1, pieces.length) === false) return undefined;
        return next(n + 1);
      });
    }
    return next(0);
  };

  function rowsOf(piece, names, filter, low, high) {
    var columns = names.map(function (name) {
      return piece.column(name);
    });
    var rows = [];
    var end = Math.min(piece.rows, high - piece.first);
    for (var at = Math.max(0, low - piece.first); at < end; at++) {
      var hit = columns.every(function (values, k) {
        return matches(values[at], filter[names[k]]);
      });
      if (hit) rows.push(at);
    }
    return rows;
  }

  /* Rows of a filter from a place on, at most `count`; `next` is the place to go on from, null at the end. With `back`: the
     last rows before a place, still in their order, and `next` is null where none is before them. `progress(n, of, found)`
     hears of each piece; where it returns false the search ends there, and the answer says `stopped`. */
  Listing.prototype.find = function (filter, options) {
    var asked = options || {};
    var count = asked.count || 200;
    var found = [];
    var next = null;
    var stopped = false;
    return this.each(
      filter,
      function (piece, rows, n, of) {
        for (var k = 0; k < rows.length; k++) {
          if (found.length === count) {
            next = piece.first + rows[k];
            return false;
          }
          found.push(piece.row(rows[k]));
        }
        if (n < of && asked.progress && asked.progress(n, of, found.length) === false) {
          stopped = true;
          next = asked.back ? piece.first : piece.first + piece.rows;
          return false;
        }
        return true;
      },
      asked.from,
      asked.back
    ).then(function () {
      if (asked.back) found.reverse();
      return { rows: found, next: next, stopped: stopped };
    });
  };

  /* How many rows a filter has, counted in the pieces that may hold them, and the place of the first where they were looked at:
     {rows, stopped, first}. `progress` as for `find`. */
  Listing.prototype.count = function (filter, progress) {
    var told = this.total(filter);
    if (told !== null) return Promise.resolve({ rows: told, stopped: false, first: null });
    var counted = 0;
    var first = null;
    var stopped = false;
    return this.each(filter, function (piece, rows, n, of) {
      if (first === null && rows.length) first = piece.first + rows[0];
      counted += rows.length;
      if (n < of && progress && progress(n, of, counted) === false) stopped = true;
      return !stopped;
    }).then(function () {
      return { rows: counted, stopped: stopped, first: first };
    });
  };

  /* One row by its place; null where there is none. */
  Listing.prototype.at = function (place) {
    var own = this;
    if (!(place >= 0 && place < own.rows)) return Promise.resolve(null);
    var number = own.firsts.length - 1;
    while (own.firsts[number] > place) number--;
    return own.piece(number).then(function (piece) {
      return piece.row(place - piece.first);
    });
  };

  window.akvRows = {
    open: open,
    /* For a look at ourselves: bytes of pieces held now, and at most so far. */
    held: function () {
      return {
        most: most,
        now: held.reduce(function (sum, piece) {
          return sum + piece.bytes;
        }, 0),
      };
    },
  };
})();
