(function () {
  "use strict";

  window.akvReaders = window.akvReaders || {};
  window.akvReaders.life = function (element, about) {};
})();
