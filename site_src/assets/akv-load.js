/* Scripts of the site, loaded on demand: from file:// a browser refuses fetch, modules and workers, and runs classic scripts. */
(function () {
  "use strict";

  var here = document.currentScript.src;
  var loads = new Map(); // address of a script -> promise of its load

  function load(url) {
    if (!loads.has(url)) {
      loads.set(
        url,
        new Promise(function (resolve, reject) {
          var script = document.createElement("script");
          script.src = url;
          script.async = false; // one after another as they were asked for, however long each is on its way
          script.onload = resolve;
          script.onerror = function () {
            loads.delete(url);
            script.remove();
            reject(new Error(decodeURIComponent(url.split("/").pop()) + " could not be loaded"));
          };
          document.head.appendChild(script);
        })
      );
    }
    return loads.get(url);
  }

  /* Run in the order in which they are named, all on their way at once. */
  function assets(names) {
    var urls = names.map(function (name) {
      return new URL(name, here).href;
    });
    return Promise.all(urls.map(load)).catch(function (error) {
      // Those after one that is missing ran without it: the next page asks for all of them again.
      urls.forEach(function (url) {
        loads.delete(url);
      });
      throw error;
    });
  }

  window.akvLoad = { load: load, assets: assets };
})();
