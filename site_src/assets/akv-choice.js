/* What a reader has chosen stands in the address after #, as "of=calls&step=12": it can be sent, kept, and gone back to.
 * And what all readers have in common: times as text, and elements made without a word of HTML from a capture. */
(function () {
  "use strict";

  if (window.akvChoice) return;

  function read() {
    var chosen = {};
    // What an anchor on the page says has no "=", and is no choice.
    if (location.hash.indexOf("=") < 0) return chosen;
    new URLSearchParams(location.hash.slice(1)).forEach(function (value, name) {
      chosen[name] = value;
    });
    return chosen;
  }

  /* Take names that are null away and set the others. `replace` leaves no entry to go back to. */
  function write(changes, replace) {
    go(address(Object.assign(read(), changes)), replace);
  }

  /* Choose what an address such as "#of=calls&step=12" says, and nothing besides. */
  function go(hash, replace) {
    if (hash === location.hash) return;
    history[replace ? "replaceState" : "pushState"](history.state, "", hash);
    tell();
  }

  /* The address of a choice: {of: "calls", step: 12}. A text that is empty is a choice too: calls may have no name. */
  function address(chosen) {
    var kept = new URLSearchParams();
    Object.keys(chosen).forEach(function (name) {
      if (chosen[name] !== null && chosen[name] !== undefined) kept.set(name, chosen[name]);
    });
    return "#" + kept.toString();
  }

  /* What an address says of a column that must have exactly this value, in the signs of akv-filter.js; as _listed.py has it. */
  function exactly(value) {
    if (value === null) return "!";
    var text = String(value);
    return /^(?:[=~!]|(-?\d+)?\.\.(-?\d+)?$|$)/.test(text) ? "=" + text : text;
  }

  /* Who wants to hear of a new choice; an element that is no longer on the page is let go. */
  var heard = [];
  var told = location.hash;
  function listen(element, callback) {
    told = location.hash;
    heard.push({ element: element, callback: callback });
  }
  function tell() {
    // A step back is told by two events of the browser.
    if (location.hash === told) return;
    told = location.hash;
    heard = heard.filter(function (one) {
      return one.element.isConnected;
    });
    heard.forEach(function (one) {
      one.callback(read());
    });
  }
  /* A link to another choice on the same page is followed here: the theme would load the page again, or say nothing. */
  document.addEventListener(
    "click",
    function (event) {
      var link = event.target.closest ? event.target.closest("a[href]") : null;
      if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
      if (link.origin !== location.origin || link.pathname !== location.pathname || link.hash.indexOf("=") < 0) return;
      event.preventDefault();
      event.stopPropagation();
      go(link.hash);
    },
    true
  );
  window.addEventListener("hashchange", tell);
  window.addEventListener("popstate", tell);

  // Of time, in nanoseconds.
  var UNITS = [
    [1e9, "s"],
    [1e6, "ms"],
    [1e3, "us"],
    [1, "ns"],
  ];

  /* A length of time in nanoseconds as text, exactly as it is: whole nanoseconds are never rounded away. */
  function time(ns) {
    if (ns === null || ns === undefined) return "unknown";
    if (typeof ns === "string") return ns + " ns";
    var unit = UNITS.find(function (one) {
      return Math.abs(ns) >= one[0];
    }) || UNITS[3];
    return String(Number((ns / unit[0]).toFixed(unit[0] === 1 ? 0 : Math.round(Math.log10(unit[0]))))) + " " + unit[1];
  }

  /* How far an end may be off, as text. */
  function bound(ns) {
    return ns === null || ns === undefined ? "bound unknown" : ns === 0 ? "as read" : "±" + time(ns);
  }

  /* A count with its noun: "1 row", "1,700 rows", "1 record has". */
  function counted(number, word, several) {
    return number.toLocaleString("en") + " " + (number === 1 ? word : several || word + "s");
  }

  /* What a process is called on the other pages of its run: "rank 0", or "pid 41"; with its id where several are called so,
     or `keyed` asks for it. */
  function process(about, id, keyed) {
    var names = about.processes || {};
    var shared = Object.keys(names).some(function (other) {
      return other !== String(id) && names[other] === names[id];
    });
    if (!names[id]) return "process " + id;
    return names[id] + (shared || keyed ? " (id " + id + ")" : "");
  }

  /* A name as it can be read: of a long one its two ends, since all of it is in its row; told where it is empty or unknown. */
  function short(text, most) {
    if (!text) return text === "" ? "(empty)" : "unknown";
    if (text.length <= most) return text;
    var head = Math.ceil((most * 2) / 3);
    return text.slice(0, head) + "…" + text.slice(head + 1 - most);
  }

  /* Texts as they can be read, no two that differ alike: of those that would be, what stands where they begin to differ is kept
     too, and where that is not enough they are numbered. */
  function distinct(texts, most) {
    var made = texts.map(function (text) {
      return short(text, most);
    });
    var alike = function () {
      var found = new Map();
      made.forEach(function (label, n) {
        if (!found.has(label)) found.set(label, []);
        found.get(label).push(n);
      });
      return Array.from(found.values()).filter(function (group) {
        return group.some(function (n) {
          return texts[n] !== texts[group[0]];
        });
      });
    };
    // Those that are still alike differ further on.
    for (var round = 0; round < 4; round++) {
      alike().forEach(function (group) {
        part(group, texts, made, most);
      });
    }
    alike().forEach(function (group) {
      group.forEach(function (n, k) {
        made[n] += " [" + (k + 1) + "]";
      });
    });
    return made;
  }

  /* In place of the middle of each of a group, the letters from where they begin to differ. */
  function part(group, texts, made, most) {
    var third = Math.max(4, Math.floor((most - 2) / 3));
    var at = differ(
      group.map(function (n) {
        return texts[n];
      })
    );
    var from = Math.max(third, at - Math.floor(third / 4));
    group.forEach(function (n) {
      var text = texts[n];
      if (text.length <= most) return;
      made[n] = text.slice(0, third) + "…" + text.slice(from, from + third) + "…" + text.slice(Math.max(from + third, text.length - third));
    });
  }

  /* The first place where not all of these texts have the same letter. */
  function differ(texts) {
    var at = 0;
    var same = function (text) {
      return text[at] === texts[0][at];
    };
    while (at < texts[0].length && texts.every(same)) at++;
    return at;
  }

  /* element("a", {href: "x"}, "text", child, ...): text is text, never HTML. */
  function element(name, attributes) {
    var made = document.createElement(name);
    Object.keys(attributes || {}).forEach(function (key) {
      var value = attributes[key];
      if (value === null || value === undefined || value === false) return;
      if (key.slice(0, 2) === "on") made.addEventListener(key.slice(2), value);
      else made.setAttribute(key, value === true ? "" : value);
    });
    for (var n = 2; n < arguments.length; n++) {
      if (arguments[n] !== null && arguments[n] !== undefined) made.append(arguments[n]);
    }
    return made;
  }

  window.akvChoice = {
    read: read,
    write: write,
    go: go,
    address: address,
    exactly: exactly,
    listen: listen,
    units: UNITS,
    time: time,
    bound: bound,
    counted: counted,
    process: process,
    short: short,
    distinct: distinct,
    element: element,
  };
})();
