/* One piece of a listing: columns as they are written, decoded when they are asked for, and rows made of them. */
(function () {
  "use strict";

  if (window.akvListingPiece) return;

  function Piece(listing, number, columns) {
    this.listing = listing;
    this.number = number;
    this.first = listing.firsts[number];
    this.rows = listing.counts[number];
    this.bytes = listing.bytes[number];
    this.encoded = columns;
    this.decoded = {};
  }

  /* Whether it has as many rows as the index says. */
  Piece.prototype.whole = function () {
    var own = this;
    return Object.keys(own.encoded).every(function (name) {
      var column = own.encoded[name];
      var values = column.i || column.d || column.v;
      return !values || values.length === own.rows;
    });
  };

  /* All values of a column. */
  Piece.prototype.column = function (name) {
    if (!(name in this.decoded)) this.decoded[name] = decoded(this.encoded[name], this.rows);
    return this.decoded[name];
  };

  Piece.prototype.row = function (at) {
    var own = this;
    var row = { place: own.first + at };
    own.listing.columns.forEach(function (column) {
      row[column.name] = own.column(column.name)[at];
    });
    return row;
  };

  function decoded(column, rows) {
    var values;
    if (!column) return new Array(rows).fill(null);
    if ("c" in column) values = new Array(rows).fill(column.c);
    else if (column.t) {
      values = column.i.map(function (at) {
        return at === null ? null : column.t[at];
      });
    } else if (column.d) {
      var last = 0;
      values = column.d.map(function (step) {
        return step === null ? null : (last += step);
      });
    } else values = column.v;
    Object.keys(column.raw || {}).forEach(function (at) {
      values[at] = column.raw[at];
    });
    return values;
  }

  window.akvListingPiece = Piece;
})();
