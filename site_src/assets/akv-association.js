(function () {
  "use strict";

  window.akvReaders = window.akvReaders || {};
  window.akvReaders.association = function (element, about) {};
})();
