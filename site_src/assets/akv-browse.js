(function () {
  "use strict";

  window.akvReaders = window.akvReaders || {};
  window.akvReaders.browse = function (element, about) {
    return window.akvRows.open(about.rows + "steps").then(function (listing) {
      element.append(listing.title);
    });
  };
})();
