/* The probe as a CPython extension, on the recorder of the preloaded libraries: what `akvsite/record/_python_probe.py`
 * does, without Python code on the way. Built against the stable ABI of 3.11.
 *
 * Every function is called with Python's lock held, which serialises the names and the free spans. Nothing raises
 * because of recording: what cannot be written is counted.
 */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include "akvlog.h"

#include <pthread.h>

const struct akv_producer akv_producer = {.prefix = "probe", .version = "akv_probe " AKV_VERSION};
bool akv_silent(void) { return true; }

enum { LEVEL_RUNNER = 1, LEVEL_HOST = 2 };
enum { API = 1, SPANS_KEPT = 64, IDS = 1 << 16 };

static int level;
/* Records that no file could take; those that a file counts itself are not among them. */
static unsigned long long lost;
static PyObject *nothing, *decode, *layer_name;

static void nothing_lost(void) { lost = 0; }

/* --- names ------------------------------------------------------------------------------------------------------ */

static PyObject *ids;             /* dict: text to id, of file `ids_of` */
static uint64_t ids_of, ids_given;

/* The text as C has it; `*holder` keeps it. NULL: it has none. */
static const char *text_of(PyObject *name, PyObject **holder) {
  *holder = NULL;
  const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
  if (text) return text;
  PyErr_Clear(); /* a half of a surrogate pair */
  *holder = PyUnicode_AsEncodedString(name, "utf-8", "backslashreplace");
  text = *holder ? PyBytes_AsString(*holder) : NULL;
  if (!text) PyErr_Clear();
  return text;
}

/* The id of a name in file `generation`, from 1; 0, which has no text, where there is no room for it. */
static uint16_t id_of(PyObject *name, uint64_t generation) {
  if (generation != ids_of) {
    PyDict_Clear(ids);
    ids_of = generation;
    ids_given = 0;
  }
  PyObject *found = PyDict_GetItemWithError(ids, name);
  if (found) return (uint16_t)PyLong_AsLong(found);
  PyObject *holder = NULL;
  uint64_t id = ids_given + 1 < IDS ? ids_given + 1 : 0;
  const char *text = text_of(name, &holder);
  PyObject *number = NULL;
  if (text && akv_name_id((uint16_t)id, text)) {
    ids_given = id;
    number = PyLong_FromUnsignedLongLong(id);
    if (number) PyDict_SetItem(ids, name, number);
  } else {
    id = 0;
  }
  Py_XDECREF(number);
  Py_XDECREF(holder);
  PyErr_Clear();
  return (uint16_t)id;
}

/* A name as an exact str, whose hash runs no code of the program. A new reference; NULL without an error: it has none. */
static PyObject *exact(PyObject *name) {
  if (PyUnicode_CheckExact(name)) return Py_NewRef(name);
  PyObject *text = PyUnicode_Check(name) ? PyUnicode_FromObject(name) : PyObject_Str(name);
  PyErr_Clear();
  return text;
}

/* False: it is no number. One that does not fit is cut to its low bits, as unsigned numbers are kept. */
static bool number_of(PyObject *object, uint64_t *number) {
  PyObject *exact = PyNumber_Index(object);
  if (!exact) {
    PyErr_Clear();
    return false;
  }
  *number = PyLong_AsUnsignedLongLongMask(exact);
  Py_DECREF(exact);
  return true;
}

/* For 32 bits: what does not fit is as good as unknown. */
static int32_t small(uint64_t number) {
  int64_t value = (int64_t)number;
  return value < INT32_MIN || value > INT32_MAX ? -1 : (int32_t)value;
}

/* --- spans ------------------------------------------------------------------------------------------------------ */

typedef struct {
  PyObject_HEAD
  PyObject *name;
  uint64_t generation, index, start, number;
  int32_t value;
  uint32_t depth; /* entered again inside itself it is still one span */
  uint8_t kind;
} Span;

static PyTypeObject *span_type;
static Span *kept[SPANS_KEPT];
static unsigned kept_count;

static PyObject *no_span(void) {
  return Py_NewRef(nothing);
}

static PyObject *not_recorded(void) {
  lost++;
  return no_span();
}

/* Takes over the reference to the name. */
static PyObject *new_span(uint8_t kind, PyObject *name, int32_t value, uint64_t number) {
  if (!name) return not_recorded();
  Span *span;
  if (kept_count) {
    span = kept[--kept_count];
    PyObject_Init((PyObject *)span, span_type);
  } else {
    span = PyObject_New(Span, span_type);
    if (!span) {
      PyErr_Clear();
      Py_DECREF(name);
      return not_recorded();
    }
  }
  span->name = name;
  span->kind = kind;
  span->value = value;
  span->number = number;
  span->depth = 0;
  return (PyObject *)span;
}

static void span_dealloc(PyObject *self) {
  Span *span = (Span *)self;
  Py_CLEAR(span->name);
  if (kept_count < SPANS_KEPT)
    kept[kept_count++] = span;
  else
    PyObject_Free(self);
  Py_DECREF(span_type);
}

static struct akv_mark mark_of(const Span *span, uint64_t end, uint8_t flags) {
  return (struct akv_mark){.kind = span->kind, .flags = flags, .name = id_of(span->name, span->generation),
                           .start = span->start, .end = end, .value = span->value, .words = {span->number}};
}

static PyObject *span_enter(PyObject *self, PyObject *unused) {
  (void)unused;
  Span *span = (Span *)self;
  if (span->depth++) return Py_NewRef(self);
  span->index = UINT64_MAX;
  span->generation = akv_generation();
  if (!span->generation) {
    lost++;
  } else if (span->kind <= AKV_PHASE) {
    /* Shown while it lasts: of a process that hangs or is ended, it is known in what. */
    struct akv_mark mark = mark_of(span, 0, AKV_LASTS);
    mark.start = span->start = akv_now();
    span->index = akv_mark(&mark);
    return Py_NewRef(self);
  }
  span->start = akv_now();
  return Py_NewRef(self);
}

static PyObject *span_exit(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
  uint64_t end = akv_now();
  Span *span = (Span *)self;
  bool left = span->depth && !--span->depth;
  /* Entered by the parent and left by a forked child, or begun in another file: not of this one. */
  if (left && span->generation && span->generation == akv_generation()) {
    uint8_t flags = count > 0 && arguments[0] != Py_None ? AKV_RAISED : 0;
    if (span->kind <= AKV_PHASE) {
      if (span->index != UINT64_MAX) {
        struct akv_mark mark = mark_of(span, end, flags);
        akv_mark_end(span->generation, span->index, &mark);
      }
    } else if (level >= LEVEL_HOST) {
      struct akv_mark mark = mark_of(span, end, flags);
      akv_mark(&mark);
    }
  }
  Py_RETURN_NONE;
}

static PyMethodDef span_methods[] = {
  {"__enter__", span_enter, METH_NOARGS, NULL},
  {"__exit__", (PyCFunction)(void (*)(void))span_exit, METH_FASTCALL, NULL},
  {NULL, NULL, 0, NULL},
};
static PyType_Slot span_slots[] = {
  {Py_tp_dealloc, span_dealloc},
  {Py_tp_methods, span_methods},
  {Py_tp_doc, "A stretch of time of one thread."},
  {0, NULL},
};
static PyType_Spec span_spec = {
  .name = "akv_probe.Span", .basicsize = sizeof(Span), .slots = span_slots,
  .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
};

/* What a span is below its level: one object. Its two methods are plain functions, which need not be bound each time. */
static PyObject *nothing_enter(PyObject *self, PyObject *unused) {
  (void)unused;
  return Py_NewRef(self);
}

static PyObject *nothing_exit(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
  (void)self, (void)arguments, (void)count;
  Py_RETURN_NONE;
}

static PyMethodDef enter_nothing = {"__enter__", nothing_enter, METH_NOARGS, NULL};
static PyMethodDef exit_nothing = {"__exit__", (PyCFunction)(void (*)(void))nothing_exit, METH_FASTCALL, NULL};
static PyType_Slot nothing_slots[] = {{Py_tp_doc, "A span that is not recorded."}, {0, NULL}};
static PyType_Spec nothing_spec = {
  .name = "akv_probe.Nothing", .basicsize = sizeof(PyObject), .slots = nothing_slots,
  .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
};

/* --- functions -------------------------------------------------------------------------------------------------- */

static PyObject *region(PyObject *self, PyObject *name) {
  (void)self;
  return level < LEVEL_HOST ? no_span() : new_span(AKV_REGION, exact(name), 0, 0);
}

static PyObject *phase(PyObject *self, PyObject *name) {
  (void)self;
  return level < LEVEL_RUNNER ? no_span() : new_span(AKV_PHASE, exact(name), 0, 0);
}

static PyObject *layer(PyObject *self, PyObject *object) {
  (void)self;
  uint64_t number;
  if (level < LEVEL_HOST) return no_span();
  return number_of(object, &number) ? new_span(AKV_LAYER, Py_NewRef(layer_name), small(number), 0) : not_recorded();
}

static PyObject *step(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names) {
  (void)self;
  if (level < LEVEL_RUNNER) return no_span();
  static const char *const known[] = {"number", "kind", "batch"};
  PyObject *given[3] = {NULL, decode, NULL};
  Py_ssize_t named = names ? PyTuple_Size(names) : 0;
  if (count > 3) goto wrong;
  for (Py_ssize_t i = 0; i < count; i++) given[i] = arguments[i];
  for (Py_ssize_t i = 0; i < named; i++) {
    int place = 0;
    while (place < 3 && PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, i), known[place])) place++;
    if (place == 3 || place < count) goto wrong;
    given[place] = arguments[count + i];
  }
  if (!given[0]) goto wrong;
  uint64_t number, batch = UINT64_MAX;
  if (!number_of(given[0], &number)) return not_recorded();
  if (given[2] && given[2] != Py_None && !number_of(given[2], &batch)) return not_recorded();
  return new_span(AKV_STEP, exact(given[1]), small(batch), number);
wrong:
  PyErr_SetString(PyExc_TypeError, "step(number, kind=\"decode\", batch=None)");
  return NULL;
}

static PyObject *mark(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
  (void)self;
  uint64_t numbers[8] = {0};
  if (count != 8) {
    PyErr_SetString(PyExc_TypeError, "mark(kind, name, start, end, value, a, b, c)");
    return NULL;
  }
  PyObject *name = exact(arguments[1]);
  bool good = name != NULL;
  for (int i = 0; i < 8; i++) good = (i == 1 || number_of(arguments[i], &numbers[i])) && good;
  uint64_t generation = good ? akv_generation() : 0;
  if (generation) {
    struct akv_mark made = {.kind = (uint32_t)numbers[0] & 63, .name = id_of(name, generation), .start = numbers[2],
                            .end = numbers[3], .value = small(numbers[4]),
                            .words = {numbers[5], numbers[6], numbers[7]}};
    akv_mark(&made);
  } else {
    lost++;
  }
  Py_XDECREF(name);
  Py_RETURN_NONE;
}

static PyObject *bracket(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
  (void)self;
  uint64_t numbers[5];
  if (count != 5) {
    PyErr_SetString(PyExc_TypeError, "bracket(device, before, after, device_time, resolution)");
    return NULL;
  }
  bool good = true;
  for (int i = 0; i < 5; i++) good = number_of(arguments[i], &numbers[i]) && good;
  if (good && akv_generation())
    akv_clock(numbers[0], numbers[1], numbers[2], 0, numbers[3], 0, numbers[4]);
  else
    lost++;
  Py_RETURN_NONE;
}

static PyObject *name_request(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
  (void)self;
  uint64_t handle;
  PyObject *holder = NULL, *name = count == 2 ? exact(arguments[1]) : NULL;
  const char *text = name ? text_of(name, &holder) : NULL;
  if (text && number_of(arguments[0], &handle)) akv_object(AKV_REQUEST, handle, text);
  Py_XDECREF(holder);
  Py_XDECREF(name);
  Py_RETURN_NONE;
}

static PyObject *configure(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
  (void)self;
  uint64_t wanted = 0;
  bool good = count == 2 && number_of(arguments[0], &wanted);
  if (good && arguments[1] != Py_None) {
    static PyObject *chosen;
    PyObject *path = NULL;
    if (PyUnicode_FSConverter(arguments[1], &path)) {
      bool same = chosen && PyObject_RichCompareBool(chosen, path, Py_EQ) == 1;
      good = same || akv_choose(PyBytes_AsString(path));
      if (good && !same) {
        Py_XDECREF(chosen);
        chosen = Py_NewRef(path);
      }
      Py_DECREF(path);
    } else {
      good = false;
    }
  }
  PyErr_Clear();
  level = good ? (int)wanted : 0;
  Py_RETURN_NONE;
}

static PyObject *generation(PyObject *self, PyObject *unused) {
  (void)self, (void)unused;
  return PyLong_FromUnsignedLongLong(akv_generation());
}

static PyObject *count_lost(PyObject *self, PyObject *unused) {
  (void)self, (void)unused;
  return PyLong_FromUnsignedLongLong(lost + akv_lost());
}

static PyObject *path(PyObject *self, PyObject *unused) {
  (void)self, (void)unused;
  const char *found = akv_path();
  if (!found) Py_RETURN_NONE;
  return PyUnicode_DecodeFSDefault(found);
}

#define FAST(function) (PyCFunction)(void (*)(void))function
static PyMethodDef functions[] = {
  {"step", FAST(step), METH_FASTCALL | METH_KEYWORDS,
   "step(number, kind=\"decode\", batch=None): one iteration of the engine, of `batch` requests (level runner)."},
  {"phase", phase, METH_O, "phase(name): a part of a step of the runner (level runner)."},
  {"region", region, METH_O, "region(name): a named part of a step (level host)."},
  {"layer", layer, METH_O, "layer(number): one layer of the model in a step (level host)."},
  {"mark", FAST(mark), METH_FASTCALL, "mark(kind, name, start, end, value, a, b, c): one record, whatever the level."},
  {"bracket", FAST(bracket), METH_FASTCALL, "bracket(device, before, after, device_time, resolution)"},
  {"name_request", FAST(name_request), METH_FASTCALL, "name_request(handle, text)"},
  {"configure", FAST(configure), METH_FASTCALL, "configure(level, folder): record up to a level, into a folder."},
  {"generation", generation, METH_NOARGS, "A number that is another one for each file; 0: there is no file."},
  {"lost", count_lost, METH_NOARGS, "Records of this process that could not be written."},
  {"path", path, METH_NOARGS, "The file being written."},
  {NULL, NULL, 0, NULL},
};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "akv_probe", .m_size = -1, .m_methods = functions};

static bool make_nothing(void) {
  PyObject *type = PyType_FromSpec(&nothing_spec), *enter = NULL, *leave = NULL;
  if (type) nothing = PyType_GenericAlloc((PyTypeObject *)type, 0);
  if (nothing) enter = PyCFunction_New(&enter_nothing, nothing);
  if (nothing) leave = PyCFunction_New(&exit_nothing, nothing);
  return enter && leave && !PyObject_SetAttrString(type, "__enter__", enter) &&
         !PyObject_SetAttrString(type, "__exit__", leave);
}

PyMODINIT_FUNC PyInit_akv_probe(void) {
  pthread_atfork(NULL, NULL, nothing_lost);
  PyObject *made = PyModule_Create(&module);
  span_type = (PyTypeObject *)PyType_FromSpec(&span_spec);
  ids = PyDict_New();
  decode = PyUnicode_InternFromString("decode");
  layer_name = PyUnicode_InternFromString("layer");
  if (made && span_type && ids && decode && layer_name && make_nothing() &&
      !PyModule_AddStringConstant(made, "NAME", "native") && !PyModule_AddIntConstant(made, "API", API))
    return made;
  Py_XDECREF(made);
  return NULL;
}
