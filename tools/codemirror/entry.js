// The parts of CodeMirror that the playground uses: `npm ci && npm run build` writes webnn/playground/codemirror.js.
export {defaultKeymap, history, historyKeymap} from '@codemirror/commands';
export {javascript} from '@codemirror/lang-javascript';
export {python} from '@codemirror/lang-python';
export {bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting} from '@codemirror/language';
export {lintGutter, setDiagnostics} from '@codemirror/lint';
export {Compartment, EditorState} from '@codemirror/state';
export {drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers} from '@codemirror/view';
export {tags} from '@lezer/highlight';
