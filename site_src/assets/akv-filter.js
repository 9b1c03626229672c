/* What a reader asks of the rows of a listing, as text in the address and in the page, and the controls that change it.
 *
 * A column's value in the address: VALUE; LOW..HIGH of numbers, either end may be missing; ~PART of a text; ! where it is
 * not known; =VALUE where a value itself begins with one of these signs.
 */
(function () {
  "use strict";

  if (window.akvFilter) return;

  var MOST = 300; // values in a list of a control; of more, a part of the text is asked for
  var LABEL = 70; // characters of a value
  var RANGE = /^(-?\d+)?\.\.(-?\d+)?$/;
  var element = window.akvChoice.element;
  var exactly = window.akvChoice.exactly;

  /* The two ends that a text names, as texts; null where it names none. */
  function ends(text) {
    var found = RANGE.exec(text);
    return found && (found[1] || found[2]) ? [found[1], found[2]] : null;
  }

  /* What a text asks of a column: a value, {min, max}, {has} or null, as Listing.find takes it. */
  function parse(listing, name, text) {
    var range = ends(text);
    if (text === "!") return null;
    if (text[0] === "~") return { has: text.slice(1) };
    if (range) {
      var asked = {};
      if (range[0]) asked.min = Number(range[0]);
      if (range[1]) asked.max = Number(range[1]);
      return asked;
    }
    var value = text[0] === "=" ? text.slice(1) : text;
    return listing.ranges[name] && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  }

  /* In words, for a person. */
  function said(name, text) {
    if (text === "!") return name + " is not known";
    if (text[0] === "~") return name + " holds “" + shortened(text.slice(1)) + "”";
    var range = ends(text);
    if (range) return name + " from " + (range[0] || "the least") + " to " + (range[1] || "the greatest");
    var value = text[0] === "=" ? text.slice(1) : text;
    return name + " is " + shortened(value);
  }

  /* What an address asks of a listing: {filter, texts, strange}: `texts` as it says it, `strange` names of no column. */
  function of(listing, chosen) {
    var made = { filter: {}, texts: {}, strange: [] };
    Object.keys(chosen).forEach(function (key) {
      if (key === "of" || key === "row" || key === "from") return;
      // Where a step is said by its place, an address may leave out that it is one.
      var name = !listing.column(key) && listing.column(key + "_id") ? key + "_id" : key;
      if (!listing.column(name)) {
        made.strange.push(key);
        return;
      }
      made.texts[name] = chosen[key];
      made.filter[name] = parse(listing, name, chosen[key]);
    });
    return made;
  }

  /* A form with a control for each column that readers choose by; `change(name, text)` hears of each choice, null for none. */
  function form(listing, pick, change) {
    var made = element("form", { class: "akv-ask", "aria-label": "Which rows" });
    var controls = {};
    listing.columns.forEach(function (column) {
      if (pick.indexOf(column.name) < 0 && !column.refers) return;
      var control = controlOf(listing, column);
      var short = column.name.replace(/_id$/, "");
      var name = listing.column(short) ? column.name : short;
      // Its label holds it, and so would hold the text of all its options too.
      control.setAttribute("aria-label", name);
      controls[column.name] = control;
      made.append(element("label", { title: column.what }, name, control));
      control.addEventListener("change", function () {
        change(column.name, asked(control));
      });
    });
    var any = other(listing, controls, change);
    made.append(any);
    made.addEventListener("submit", function (event) {
      event.preventDefault();
    });
    return {
      element: made,
      /* Show what is asked now. */
      show: function (texts) {
        Object.keys(controls).forEach(function (name) {
          set(controls[name], texts[name]);
        });
      },
    };
  }

  function controlOf(listing, column) {
    var choices = listing.choices(column.name);
    if (!choices || choices.length > MOST) {
      var hint = column.refers ? "row number" : choices ? "part of it, or =all of it" : "part of it";
      return element("input", { type: "text", autocomplete: "off", placeholder: hint, "data-part": !column.refers });
    }
    var made = element("select", {}, element("option", { value: "" }, "any"));
    var sorted = choices.slice().sort(function (a, b) {
      return String(a.value).localeCompare(String(b.value), undefined, { numeric: true });
    });
    var labels = window.akvChoice.distinct(
      sorted.map(function (choice) {
        return choice.value === null ? "not known" : choice.value;
      }),
      LABEL
    );
    sorted.forEach(function (choice, n) {
      made.append(element("option", { value: exactly(choice.value) }, labels[n] + " (" + grouped(choice.rows) + ")"));
    });
    return made;
  }

  function asked(control) {
    var text = control.value.trim();
    if (!text) return null;
    // In a field for a part of a text, a plain word is a part.
    return control.hasAttribute("data-part") && !/^[~=!]/.test(text) ? "~" + text : text;
  }

  function set(control, text) {
    if (control.tagName === "SELECT" && text !== undefined) {
      var known = Array.from(control.options).some(function (option) {
        return option.value === text;
      });
      if (!known) control.append(element("option", { value: text }, said("", text).trim()));
    }
    control.value = text === undefined ? "" : control.hasAttribute("data-part") ? text.replace(/^~/, "") : text;
  }

  /* Any other column: its name, and what is asked of it. */
  function other(listing, controls, change) {
    var names = element("select", { "aria-label": "another column" });
    listing.columns.forEach(function (column) {
      if (!controls[column.name]) names.append(element("option", { value: column.name, title: column.what }, column.name));
    });
    var text = element("input", {
      type: "text",
      autocomplete: "off",
      placeholder: "7, 5..9, ~part, !",
      "aria-label": "what another column must be: a value, low..high, ~part of a text, or ! where it is not known",
    });
    var take = function () {
      if (!text.value.trim()) return;
      change(names.value, text.value.trim());
      text.value = "";
    };
    text.addEventListener("change", take);
    return element("span", { class: "akv-ask-other" }, "another column", names, text);
  }

  function shortened(text) {
    return window.akvChoice.short(text, LABEL);
  }

  function grouped(number) {
    return String(number).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  }

  window.akvFilter = { parse: parse, said: said, of: of, form: form, grouped: grouped };
})();
