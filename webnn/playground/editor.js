// The editor: CodeMirror, with marks at the lines of errors.
import {
  bracketMatching, Compartment, defaultKeymap, drawSelection, EditorState, EditorView, highlightActiveLine, HighlightStyle, history,
  historyKeymap, indentOnInput, indentUnit, javascript, keymap, lineNumbers, lintGutter, python, setDiagnostics, syntaxHighlighting, tags,
} from './codemirror.js';

const colours = HighlightStyle.define([
  {tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: 'var(--keyword)'},
  {tag: [tags.string, tags.special(tags.string), tags.regexp], color: 'var(--string)'},
  {tag: [tags.number, tags.bool, tags.null, tags.self], color: 'var(--number)'},
  {tag: [tags.comment, tags.meta], color: 'var(--comment)', fontStyle: 'italic'},
]);
const LANGUAGES = {
  javascript: () => [javascript(), indentUnit.of('  ')],
  python: () => [python(), indentUnit.of('    ')],
};

/** Make the editor in an element. `onRun` is called for Ctrl+Enter, `onChange` when a person changes the text. */
export function makeEditor(parent, {onRun, onChange}) {
  const language = new Compartment();
  let filling = false;
  const view = new EditorView({
    parent,
    state: EditorState.create({
      extensions: [
        // Tab is not taken: it leaves the editor, as everywhere on a page.
        keymap.of([{key: 'Mod-Enter', run: () => (onRun(), true)}, ...defaultKeymap, ...historyKeymap]),
        lineNumbers(), lintGutter(), history(), drawSelection(), highlightActiveLine(), indentOnInput(), bracketMatching(),
        syntaxHighlighting(colours), language.of([]), EditorView.lineWrapping,
        EditorView.contentAttributes.of({tabindex: '0', 'aria-label': 'Program', 'aria-describedby': 'keys', spellcheck: 'false'}),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !filling) onChange();
        }),
      ],
    }),
  });
  return {
    get text() {
      return view.state.doc.toString();
    },
    fill(text, name) {
      filling = true;
      view.dispatch({changes: {from: 0, to: view.state.doc.length, insert: text}, effects: language.reconfigure((LANGUAGES[name] ?? (() => []))())});
      filling = false;
      this.mark(null);
    },
    /** Mark the line of an error, or none. */
    mark(error) {
      const found = [];
      if (error?.line >= 1 && error.line <= view.state.doc.lines) {
        const {from, to} = view.state.doc.line(error.line);
        const start = Math.min(to, from + Math.max(0, (error.column ?? 1) - 1));
        found.push({from: start === to ? from : start, to, severity: 'error', message: error.message});
      }
      view.dispatch(setDiagnostics(view.state, found));
    },
    go({line, column}) {
      const place = view.state.doc.line(Math.min(Math.max(line, 1), view.state.doc.lines));
      view.dispatch({selection: {anchor: Math.min(place.to, place.from + Math.max(0, (column ?? 1) - 1))}, scrollIntoView: true});
      view.focus();
    },
  };
}
