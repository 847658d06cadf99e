// The clock, marks and measures: https://w3c.github.io/user-timing. `engine` is the engine's own clock. Nothing observes them.
(function (global, engine, clone, events, adopt, interfaces) {
'use strict';
const {EventTarget} = events, {dictionary, finish, needs} = interfaces;
const {DOMException, Map, Number, Object, TypeError, WeakMap} = global;
const now = engine.now.bind(engine), {timeOrigin} = engine;

const states = new WeakMap();
const stateOf = (self, name) => {
  const state = states.get(self);
  if (state === undefined) throw new TypeError(`Illegal invocation, this must be a ${name}`);
  return state;
};
class PerformanceEntry {
  constructor() { throw new TypeError('PerformanceEntry: Illegal constructor'); }
  get name() { return stateOf(this, 'PerformanceEntry').name; }
  get entryType() { return stateOf(this, 'PerformanceEntry').entryType; }
  get startTime() { return stateOf(this, 'PerformanceEntry').startTime; }
  get duration() { return stateOf(this, 'PerformanceEntry').duration; }
  toJSON() {
    const {name, entryType, startTime, duration, detail} = stateOf(this, 'PerformanceEntry');
    return {name, entryType, startTime, duration, detail};
  }
}
finish(PerformanceEntry);
function time(value, name) {
  const number = Number(value);
  if (!Number.isFinite(number) || number < 0) throw new TypeError(`${name} must be a time of 0 or more, got ${value}`);
  return number;
}
const detailOf = value => value === undefined || value === null ? null : clone(value);

class PerformanceMark extends PerformanceEntry {
  constructor(name, options = undefined) {
    needs('PerformanceMark', arguments, 1);
    const {startTime, detail} = dictionary(options, 'PerformanceMark: options');
    const mark = Object.create(new.target.prototype), start = startTime === undefined ? now() : time(startTime, 'startTime');
    states.set(mark, {name: `${name}`, entryType: 'mark', startTime: start, duration: 0, detail: detailOf(detail)});
    return mark;
  }
  get detail() { return stateOf(this, 'PerformanceMark').detail; }
}
class PerformanceMeasure extends PerformanceEntry {
  get detail() { return stateOf(this, 'PerformanceMeasure').detail; }
}
finish(PerformanceMark);
finish(PerformanceMeasure);

const entries = [];
// A time is a number, or the name of a mark.
function timeOf(mark, name) {
  if (typeof mark === 'number') return time(mark, name);
  const found = entries.findLast(each => states.get(each).entryType === 'mark' && states.get(each).name === `${mark}`);
  if (found === undefined) throw new DOMException(`measure: there is no mark ${mark}`, 'SyntaxError');
  return states.get(found).startTime;
}
function clear(type, name) {
  const kept = entries.filter(each => states.get(each).entryType !== type || (name !== undefined && states.get(each).name !== `${name}`));
  entries.splice(0, entries.length, ...kept);
}
const sorted = wanted => entries.filter(each => wanted(states.get(each))).sort((a, b) => states.get(a).startTime - states.get(b).startTime);

class Performance extends EventTarget {
  constructor() { throw new TypeError('Performance: Illegal constructor'); }
  now() { return now(); }
  get timeOrigin() { return timeOrigin; }
  toJSON() { return {timeOrigin}; }
  mark(name, options = undefined) {
    needs('mark', arguments, 1);
    const mark = new PerformanceMark(name, options);
    entries.push(mark);
    return mark;
  }
  measure(name, startOrOptions = undefined, endMark = undefined) {
    needs('measure', arguments, 1);
    const isObject = typeof startOrOptions === 'object' && startOrOptions !== null;
    const {start, end, duration, detail} = isObject ? startOrOptions : {start: startOrOptions};
    if (isObject && Object.keys(startOrOptions).length > 0) {
      if (endMark !== undefined) throw new TypeError('measure: options and a mark for the end must not both be given');
      const given = [start, end, duration].filter(each => each !== undefined).length;
      if (given === 3 || (start === undefined && end === undefined)) {
        throw new TypeError('measure: options must have start or end, and at most two of start, end and duration');
      }
    }
    const last = endMark ?? end;
    const stop = last !== undefined ? timeOf(last, 'end') :
      start !== undefined && duration !== undefined ? timeOf(start, 'start') + time(duration, 'duration') : now();
    const begin = start !== undefined ? timeOf(start, 'start') : duration !== undefined ? stop - time(duration, 'duration') : 0;
    const measure = Object.create(PerformanceMeasure.prototype);
    states.set(measure, {name: `${name}`, entryType: 'measure', startTime: begin, duration: stop - begin, detail: detailOf(detail)});
    entries.push(measure);
    return measure;
  }
  clearMarks(name = undefined) { clear('mark', name); }
  clearMeasures(name = undefined) { clear('measure', name); }
  getEntries() { return sorted(() => true); }
  getEntriesByType(type) { needs('getEntriesByType', arguments, 1); return sorted(each => each.entryType === `${type}`); }
  getEntriesByName(name, type = undefined) {
    needs('getEntriesByName', arguments, 1);
    return sorted(each => each.name === `${name}` && (type === undefined || each.entryType === `${type}`));
  }
}
finish(Performance);
const performance = Object.create(Performance.prototype);
adopt(performance);

return {Performance, PerformanceEntry, PerformanceMark, PerformanceMeasure, performance};
})
