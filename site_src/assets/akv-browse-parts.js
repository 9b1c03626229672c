/* The parts around the rows of a run: kinds of rows, what is asked, steps through them, keys. */
(function () {
  "use strict";

  if (window.akvBrowseParts) return;

  var choice = window.akvChoice;
  var element = choice.element;

  function button(text, onclick) {
    return element("button", { type: "button", class: "akv-button", onclick: onclick }, text);
  }

  /* A link for each kind of rows, with how many there are. */
  function tabs(box, listings, now) {
    box.textContent = "";
    listings.forEach(function (listed) {
      box.append(
        element(
          "a",
          { href: choice.address({ of: listed.name }), "aria-current": listed.name === now ? "true" : null },
          listed.title + " ",
          element("span", { class: "akv-tab-count" }, window.akvFilter.grouped(listed.rows))
        )
      );
    });
  }

  /* What is asked now, in words, each with a link that takes it away. */
  function chosen(box, asked, of) {
    var now = Object.assign(choice.read(), { of: of });
    var names = Object.keys(asked.texts);
    box.textContent = "";
    names.forEach(function (name) {
      var without = Object.assign({}, now, { from: null, row: null });
      delete without[name];
      delete without[name.replace(/_id$/, "")];
      var words = window.akvFilter.said(name, asked.texts[name]);
      box.append(
        element("span", { class: "akv-chip" }, words + " ", element("a", { href: choice.address(without), "aria-label": "no longer ask that " + words }, "×"))
      );
    });
    if (names.length) box.append(element("a", { href: choice.address({ of: of }) }, "all rows"));
    if (asked.strange.length) {
      box.append(element("span", {}, " Left out, since no column here has the name: " + asked.strange.join(", ") + "."));
    }
  }

  /* Buttons through the rows. The function that comes back says which of them lead anywhere. */
  function steps(box, goes) {
    var made = {
      first: button("first", goes.first),
      before: button("previous 100", goes.before),
      after: button("next 100", goes.after),
      last: button("last 100", goes.last),
    };
    var place = element("input", { type: "text", inputmode: "numeric", autocomplete: "off", size: 9 });
    place.addEventListener("change", function () {
      var text = place.value.replace(/[,\s]/g, "");
      if (/^\d+$/.test(text)) goes.row(Number(text));
      place.value = "";
    });
    var save = button("CSV of the rows shown", goes.save);
    Object.keys(made).forEach(function (name) {
      box.append(made[name]);
    });
    box.append(element("label", {}, "row ", place), save);
    return function (can) {
      made.first.disabled = made.before.disabled = !can.before;
      made.after.disabled = !can.after;
      made.last.disabled = !can.after;
      save.disabled = !can.rows;
    };
  }

  var KEYS = [
    ["j, k or arrows in the table", "the next row, the row before"],
    ["Enter", "the row in full"],
    ["n, p", "the next 100 rows, the 100 before"],
    ["/", "what is asked of the rows"],
    ["Escape", "close the row in full"],
    ["?", "these keys"],
  ];

  function keys() {
    var made = element("details", { class: "akv-fold akv-keys" }, element("summary", {}, "Keys"));
    var list = element("ul");
    KEYS.forEach(function (key) {
      list.append(element("li", {}, element("kbd", {}, key[0]), " " + key[1]));
    });
    made.append(list);
    return made;
  }

  /* Keys work while nothing is typed, on this page's rows alone; the theme has keys of its own, which they come before. */
  function listen(place, goes) {
    var does = {
      j: function () { goes.move(1); },
      k: function () { goes.move(-1); },
      n: goes.after,
      p: goes.before,
      "/": goes.filter,
      "?": goes.help,
      Escape: goes.close,
    };
    function heard(event) {
      if (!place.isConnected) {
        document.removeEventListener("keydown", heard);
        return;
      }
      var at = document.activeElement || document.body;
      if (event.ctrlKey || event.metaKey || event.altKey || (at !== document.body && !place.contains(at))) return;
      if (/^(INPUT|SELECT|TEXTAREA)$/.test(at.tagName)) {
        if (event.key === "Escape") at.blur();
        return;
      }
      var inTable = at.closest && at.closest("tbody tr[data-place]");
      var action = does[event.key];
      if (inTable && event.key === "ArrowDown") action = does.j;
      if (inTable && event.key === "ArrowUp") action = does.k;
      if (!action) return;
      event.preventDefault();
      event.stopPropagation();
      action();
    }
    document.addEventListener("keydown", heard);
  }

  /* A text as a file. */
  function save(text, name) {
    var url = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    var link = element("a", { href: url, download: name });
    link.click();
    setTimeout(function () {
      URL.revokeObjectURL(url);
    }, 1000);
  }

  window.akvBrowseParts = { button: button, tabs: tabs, chosen: chosen, steps: steps, keys: keys, listen: listen, save: save };
})();
