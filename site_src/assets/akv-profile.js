(function () {
  "use strict";

  window.akvReaders = window.akvReaders || {};
  window.akvReaders.profile = function (element, about) {};
})();
