/** Failures on demand. Members that are absent are disarmed. */
export interface Faults {
  /** Device types whose contexts are refused with NotSupportedError; a record has messages. */
  refuse?: string | string[] | Record<string, string>;
  /** Which builds fail with OperationError: 1 is the next one. */
  failBuild?: number | number[] | 'all' | null;
  /** Which computations fail: the context of a dispatch is lost. */
  failCompute?: number | number[] | 'all' | null;
  /** The largest tensor, or graph, that there is memory for, in bytes. */
  memoryLimit?: number | null;
  /** After how many further computations the context is lost, once. */
  loseAfter?: number | null;
  /** By how many seconds each answer is delayed. */
  delay?: number | null;
}

/** Settings that can change while a program runs; null is the default. */
export interface Settings {
  /** A device profile, such as 'coreml', or a file of one. */
  profile?: string | null;
  /** Whether another device may be used: 'deny' refuses the context. */
  fallback?: 'allow' | 'silent' | 'deny' | null;
  numerics?: 'exact' | 'fast' | null;
  faults?: Faults;
}

export interface Options extends Settings {
  /** The draft, such as '2026-06'; the newest one by default. */
  revision?: string;
  /** What browsers have beside a draft, such as 'chromium-153'. */
  dialect?: string;
}

export interface InstallOptions extends Options {
  /** The Python with the package webnn: its path, that of its environment, that of the program webnn, or a command. */
  python?: string | string[];
}

/** A call as a person reads it. */
export interface Call {
  number: number;
  /** Such as 'MLGraphBuilder.relu'. */
  member: string;
  arguments: string;
  /** The result, or the message of the error. */
  result: string;
  refused: boolean;
  seconds: number;
  /** Bytes of views that came with it, and that went back. */
  received: number;
  sent: number;
}

export interface Counts {
  /** The calls of each member, those that failed included. */
  calls: Record<string, number>;
  contexts: number;
  builds: number;
  /** The calls of dispatch() and compute() that succeeded. */
  computes: number;
  refused: number;
}

export interface Emulator {
  /** The version of the Python package, and the draft. */
  readonly version: string;
  readonly revision: string;
  /** The number of the Python process. */
  readonly pid: number;
  /** Change settings for contexts that are made later; faults hold for all contexts. Settings that are absent stay. */
  set(settings: Settings): void;
  /** The last 10,000 calls. */
  log(): Call[];
  counts(): Counts;
  /** The warnings, such as those about fallbacks, each once. */
  warnings(): string[];
  /** End the Python process. A call of WebNN is an error then. */
  close(): void;
}

/** Put navigator.ml and the interfaces into this realm. The emulator that it had before, with all objects, ends. */
export function install(options?: InstallOptions): Emulator;
/** The emulator of this realm: that of the test environment, of webnn-emulator/register, or of install(). */
export function emulator(): Emulator;
/** An option is wrong, Python is missing, or it has ended. */
export class WebNNEmulatorError extends Error {}
