/* Makes tables sortable and their rows found by their words, and what scrolls sideways reached with the keyboard. */
(function () {
  "use strict";

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

  window.akvTables = { make: makeTables, reachScrolled: reachScrolled };
})();
