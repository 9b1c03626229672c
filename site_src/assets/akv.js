/* Starts what a page has: its tables, its readers, which are parts of it that draw what is chosen out of files beside it, and
 * its charts. */
(function () {
  "use strict";

  var SHARED = ["akv-listing-piece.js", "akv-listing.js", "akv-choice.js", "akv-lanes-draw.js", "akv-lanes.js"];
  // What a reader is made of besides, in this order.
  var PARTS = {
    association: ["akv-call-rows.js", "akv-call-parts.js", "akv-call-lanes.js"],
    life: ["akv-life-data.js", "akv-life-lanes.js", "akv-life-words.js"],
    browse: ["akv-filter.js", "akv-rows.js", "akv-browse-parts.js", "akv-browse-goes.js"],
    profile: ["akv-profile-rows.js", "akv-profile-lanes.js", "akv-profile-parts.js"],
  };

  /* Starts each reader once; the promise is kept when all of them have drawn, or said why not. */
  function startReaders() {
    var found = document.querySelectorAll("[data-akv-reader]:not([data-akv-reader-started])");
    return Promise.all(Array.from(found, startReader));
  }

  function startReader(element) {
    var kind = element.getAttribute("data-akv-reader");
    element.setAttribute("data-akv-reader-started", "");
    return window.akvLoad
      .assets(SHARED.concat(PARTS[kind] || [], "akv-" + kind + ".js"))
      .then(function () {
        if (!window.akvReaders || !window.akvReaders[kind]) throw new Error("akv-" + kind + ".js did not bring it");
        return window.akvReaders[kind](element, JSON.parse(element.getAttribute("data-akv-reader-about")));
      })
      .then(function () {
        element.setAttribute("data-akv-reader-ready", "yes");
      })
      .catch(function (error) {
        var note = document.createElement("p");
        note.className = "akv-failed";
        note.setAttribute("role", "status");
        note.textContent = "This part could not be drawn: " + ((error && error.message) || error) + ".";
        element.prepend(note);
        element.setAttribute("data-akv-reader-ready", "no");
      });
  }

  /* A page with a reader is opened for it, and each chart holds up all else for as long as it is drawn: charts come after.
     Only in a task of their own, or the page would not count as loaded, nor be painted, before the last of them. */
  function afterReaders(readers) {
    return readers.then(function () {
      return new Promise(function (go) {
        setTimeout(go, 30);
      });
    });
  }

  /* The theme's search is a dialog without a name. */
  function nameSearch() {
    var search = document.querySelector(".md-search[role=dialog]:not([aria-label])");
    if (search) search.setAttribute("aria-label", "Search");
  }

  function start() {
    nameSearch();
    window.akvTables.make();
    var readers = startReaders();
    if (document.querySelector("[data-akv-reader]")) window.akvCharts.after(afterReaders(readers));
    window.akvCharts.drawAll();
    setTimeout(window.akvTables.reachScrolled, 300);
  }

  var later;
  window.addEventListener("resize", function () {
    clearTimeout(later);
    later = setTimeout(function () {
      window.akvTables.reachScrolled();
      window.akvCharts.drawAll();
    }, 200);
  });
  new MutationObserver(window.akvCharts.drawAll).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
  // Once by the browser's own event, since from file:// the theme's never comes; and after each page that the theme
  // puts in place without a load. Starting twice does no harm.
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
  if (window.document$ && window.document$.subscribe) window.document$.subscribe(start);
})();
