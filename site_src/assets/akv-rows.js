/* Rows of a listing as a table, one row in full with what leads on from it, and rows as a CSV file. */
(function () {
  "use strict";

  if (window.akvRowsTable) return;

  var LONG = 60; // characters of a text in a cell
  var FIRST = ["name", "event", "request", "number", "duration_ns", "start_ns", "at_ns"];
  var element = window.akvChoice.element;
  var address = window.akvChoice.address;
  var grouped = window.akvFilter.grouped;

  /* A value as it was recorded: whole numbers with their digits grouped, and never rounded. */
  function shown(value) {
    if (value === null || value === undefined) return "";
    if (typeof value === "number") return Number.isInteger(value) ? grouped(value) : String(value);
    return String(value);
  }

  function isNumber(column, rows) {
    return rows.every(function (row) {
      return row[column.name] === null || typeof row[column.name] === "number";
    });
  }

  /* Where a cell leads: the row that it refers to; null for most. `refers`: by column, the listing that it names rows of. */
  function target(refers, name, value) {
    if (value === null || value === undefined || !refers[name]) return null;
    if (name === "request") return address({ of: "requests", name: window.akvChoice.exactly(value) });
    return address({ of: refers[name], row: value });
  }

  /* What a row is called, how long it took and when stand before all else. */
  function order(name) {
    var at = FIRST.indexOf(name);
    return at < 0 ? FIRST.length : at;
  }

  /* The table of rows. `chosen`: what the address says now; `picked`: the place of the row that is shown in full. */
  function table(listing, rows, options) {
    var used = listing.columns.filter(function (column) {
      return rows.some(function (row) {
        return row[column.name] !== null;
      });
    });
    used.sort(function (a, b) {
      return order(a.name) - order(b.name) || listing.columns.indexOf(a) - listing.columns.indexOf(b);
    });
    var head = element("tr", {}, element("th", { scope: "col", class: "akv-number" }, "row"));
    var body = element("tbody");
    var numbers = {};
    used.forEach(function (column, n) {
      // The id of a process is a key and no number: it stands behind what the process is called.
      numbers[column.name] = column.name !== "process_id" && isNumber(column, rows);
      var button = element("button", { type: "button", class: "akv-sort" }, column.name);
      button.addEventListener("click", function () {
        sort(head, body, n + 1, column.name, options.sorted);
      });
      head.append(
        element("th", { scope: "col", class: numbers[column.name] ? "akv-number" : null, title: column.what }, button)
      );
    });
    rows.forEach(function (row) {
      body.append(line(row, used, numbers, options));
    });
    var made = element("table", { class: "akv-table" }, element("thead", {}, head), body);
    tabOrder(body, body.querySelector("tr[aria-current]") || body.rows[0]);
    return {
      element: made,
      empty: listing.columns
        .filter(function (column) {
          return used.indexOf(column) < 0;
        })
        .map(function (column) {
          return column.name;
        }),
    };
  }

  function line(row, used, numbers, options) {
    var to = address(Object.assign({}, options.chosen, { row: row.place }));
    var made = element(
      "tr",
      { "aria-current": row.place === options.picked ? "true" : null, "data-place": row.place },
      element("td", { class: "akv-number", "data-sort": row.place }, element("a", { href: to }, grouped(row.place)))
    );
    used.forEach(function (column) {
      made.append(cell(row[column.name], column.name, numbers[column.name], options));
    });
    return made;
  }

  /* A value in words: as it was recorded, but that a process has what it is called. */
  function worded(value, name, about) {
    return name === "process_id" && value !== null ? window.akvChoice.process(about, value, true) : shown(value);
  }

  function cell(value, name, number, options) {
    var text = worded(value, name, options.about);
    if (value === null) return element("td", { class: "akv-none" }, "–");
    var attributes = {
      class: number ? "akv-number" : null,
      "data-sort": String(value).slice(0, 200),
      title: text.length > LONG ? text : null,
    };
    var words = text.length > LONG ? text.slice(0, LONG - 20) + "…" + text.slice(-19) : text;
    var to = target(options.refers, name, value);
    return element("td", attributes, to ? element("a", { href: to }, words) : element("bdi", {}, words));
  }

  /* Only the links of one row are in the order of tabs: the keys j and k lead from row to row. */
  function tabOrder(body, current) {
    Array.from(body.rows).forEach(function (row) {
      row.querySelectorAll("a").forEach(function (link) {
        link.tabIndex = row === current ? 0 : -1;
      });
    });
  }

  /* The row of a place gets the focus, where it is shown. */
  function focus(body, place) {
    var row = body.querySelector('tr[data-place="' + place + '"]');
    if (!row) return;
    tabOrder(body, row);
    row.querySelector("a").focus();
  }

  /* The row before or after the one that has the focus gets it. */
  function move(body, by) {
    var rows = Array.from(body.rows);
    if (!rows.length) return;
    var at = rows.findIndex(function (row) {
      return row.contains(document.activeElement);
    });
    if (at < 0) {
      at = rows.findIndex(function (row) {
        return row.hasAttribute("aria-current");
      });
    }
    var to = rows[at < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, at + by))];
    tabOrder(body, to);
    to.querySelector("a").focus();
  }

  function sort(head, body, at, name, sorted) {
    var cells = Array.from(head.cells);
    var falling = cells[at].getAttribute("aria-sort") === "ascending";
    cells.forEach(function (one) {
      one.removeAttribute("aria-sort");
    });
    cells[at].setAttribute("aria-sort", falling ? "descending" : "ascending");
    var key = function (row) {
      var text = row.cells[at].getAttribute("data-sort");
      return text === null ? null : cells[at].className ? Number(text) : text;
    };
    Array.from(body.rows)
      .map(function (row, n) {
        return { row: row, key: key(row), n: n };
      })
      .sort(function (a, b) {
        // What is not known comes last, whichever way.
        if (a.key === null || b.key === null) return (a.key === null) - (b.key === null) || a.n - b.n;
        var order = typeof a.key === "number" ? a.key - b.key : a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
        return (falling ? -order : order) || a.n - b.n;
      })
      .forEach(function (one) {
        body.append(one.row);
      });
    sorted(name, falling ? "falling" : "rising");
  }

  /* The time that a value is on its axis, exactly. */
  function absolute(column, value) {
    return column.origin === undefined || value === null ? null : String(BigInt(column.origin) + BigInt(value));
  }

  /* One row in full: each column, what it is, and what it holds. `more`: links, each {href, text}. */
  function detail(listing, row, options) {
    var body = element("tbody");
    listing.columns.forEach(function (column) {
      var value = row[column.name];
      var to = target(options.refers, column.name, value);
      var text = value === null ? "not known" : worded(value, column.name, options.about);
      var long = /_ns$/.test(column.name) && typeof value === "number" && Math.abs(value) >= 1000;
      var length = long ? " ns = " + window.akvChoice.time(value) : "";
      var whole = absolute(column, value);
      body.append(
        element(
          "tr",
          {},
          element("td", {}, column.name),
          element(
            "td",
            { class: value === null ? "akv-none" : null },
            to ? element("a", { href: to }, text) : element("bdi", {}, text),
            length + (whole === null ? "" : "; on its axis " + whole)
          ),
          element("td", {}, column.what)
        )
      );
    });
    var head = element("tr");
    ["column", "recorded", "what it is"].forEach(function (name) {
      head.append(element("th", { scope: "col" }, name));
    });
    var links = element("ul");
    options.more.forEach(function (one) {
      links.append(element("li", {}, element("a", { href: one.href }, one.text)));
    });
    return element(
      "section",
      { class: "akv-row", "aria-label": "One row", tabindex: "-1" },
      element("p", { class: "akv-row-title" }, element("strong", {}, options.title)),
      links,
      element(
        "div",
        { class: "akv-scroll", role: "group", "aria-label": "one row", tabindex: "0" },
        element("table", { class: "akv-table" }, element("thead", {}, head), body)
      )
    );
  }

  /* Links from a row: its page, and rows of other listings that refer to it. */
  function leads(about, listed, row, rows) {
    var links = [];
    if (listed.page) links.push({ href: listed.page + "#" + listed.key + "=" + row.place, text: listed.about });
    about.kinds.forEach(function (other) {
      Object.keys(other.refers).forEach(function (name) {
        if (other.refers[name] !== listed.name) return;
        var asked = { of: other.name };
        asked[name] = name === "request" ? window.akvChoice.exactly(row.name) : row.place;
        links.push({ href: address(asked), text: other.title + " whose " + name + " is this row" });
      });
    });
    if (row.place > 0) links.push({ href: address(Object.assign(window.akvChoice.read(), { row: row.place - 1 })), text: "The row before it" });
    if (row.place + 1 < rows) {
      links.push({ href: address(Object.assign(window.akvChoice.read(), { row: row.place + 1 })), text: "The row after it" });
    }
    return links;
  }

  /* The rows that are the same thing, on record a second time. */
  function same(about, listed, row) {
    var pairs = about.same.filter(function (pair) {
      return pair.of === listed.name;
    });
    return Promise.all(
      pairs.map(function (pair) {
        return window.akvRows.open(about.rows + pair.name).then(function (listing) {
          return Promise.all([paired(listing, pair, 0, row), paired(listing, pair, 1, row)]);
        });
      })
    ).then(function (found) {
      return [].concat.apply([], [].concat.apply([], found));
    });
  }

  function paired(listing, pair, side, row) {
    var filter = {};
    filter[pair.columns[side]] = row;
    return listing.find(filter, { count: 20 }).then(function (answer) {
      return answer.rows.map(function (one) {
        var other = one[pair.columns[1 - side]];
        return { href: address({ of: pair.of, row: other }), text: pair.title + ": row " + grouped(other) };
      });
    });
  }

  /* What the numbers of a table are, and the printed line: texts. `empty`: names of columns without a value in it; `first`: what
     these rows are read wrongly without, empty for most. */
  function notes(listing, empty, about, first) {
    var origins = [];
    var said = first ? [first] : [];
    listing.columns.forEach(function (column) {
      if (column.origin === undefined || origins.indexOf(column.origin) >= 0) return;
      origins.push(column.origin);
      said.push(
        /^own_/.test(column.name)
          ? column.name + " counts from " + column.origin + " ns on the device's own clock, which is another axis."
          : "Times count from the run's origin, " + column.origin + " ns on the host's axis."
      );
    });
    said.push("Whole numbers are as recorded. “–” is not known. Names of rows are their places in the listing, from 0.");
    if (empty.length) said.push("Not known in any row shown, so without a column here: " + empty.join(", ") + ".");
    return said.concat(about.footer);
  }

  /* Rows as CSV: what they are of stands in each. A text that a spreadsheet would run gets a leading apostrophe. */
  function csv(listing, rows, about) {
    var origins = listing.columns.filter(function (column) {
      return column.origin !== undefined;
    });
    var names = ["run", "level", "use", "row"].concat(
      listing.columns.map(function (column) {
        return column.name;
      }),
      origins.map(function (column) {
        return column.name + " counts from";
      }),
      about.stamps.length ? ["retracted"] : []
    );
    var lines = rows.map(function (row) {
      return [about.run, about.level, about.use, row.place].concat(
        listing.columns.map(function (column) {
          return row[column.name];
        }),
        origins.map(function (column) {
          return column.origin;
        }),
        about.stamps.length ? [about.stamps.join("; ")] : []
      );
    });
    return [names]
      .concat(lines)
      .map(function (line) {
        return line.map(field).join(",");
      })
      .join("\n") + "\n";
  }

  function field(value) {
    if (value === null || value === undefined) return "";
    if (typeof value === "number" || /^-?\d+$/.test(value)) return String(value);
    var text = /^\s*[=+\-@]|^[\t\r]/.test(value) ? "'" + value : value;
    return /[",\n\r]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
  }

  window.akvRowsTable = { table: table, detail: detail, leads: leads, same: same, notes: notes, csv: csv, move: move, focus: focus };
})();
