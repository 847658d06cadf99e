// A byte-level BPE tokenizer that reads the tokenizer.json of Hugging Face's library, as that library writes it for such models.

/** Words, numbers and signs with the space before them, and the English endings behind an apostrophe: GPT-2's parts of a text. */
const PARTS = /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;

/** Returns the letter of each byte in the file: printable ones are themselves, and the others follow behind Latin-1. */
function lettersOfBytes() {
  const isPrintable = (byte) => (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte !== 0xad);
  let more = 256;
  return Array.from({length: 256}, (_, byte) => String.fromCodePoint(isPrintable(byte) ? byte : more++));
}

export class Tokenizer {
  #letters = lettersOfBytes();
  #bytes = new Map(this.#letters.map((letter, byte) => [letter, byte]));
  #numbers;
  #ranks;
  #special;
  #tokens = [];

  /** @param {object} file The content of tokenizer.json. */
  constructor({model: {type, vocab, merges}, added_tokens: added, pre_tokenizer: parts, normalizer}) {
    if (type !== 'BPE' || parts?.type !== 'ByteLevel' || parts.add_prefix_space || normalizer !== null) {
      throw new TypeError('tokenizer.json must have a byte-level BPE without a normalizer and without a space before the text');
    }
    this.#numbers = new Map(Object.entries(vocab));
    this.#ranks = new Map(merges.map((pair, rank) => [typeof pair === 'string' ? pair : pair.join(' '), rank]));
    this.#special = new Map(added.map(({content, id}) => [content, id]));
    for (const [token, number] of this.#numbers) this.#tokens[number] = token;
  }

  /** Returns the numbers of a text's tokens. */
  encode(text) {
    const numbers = [];
    while (text !== '') {
      // The special token that comes first, if there is one.
      const places = [...this.#special.keys()].map((token) => [text.indexOf(token), token]).filter(([place]) => place >= 0);
      const [place, token] = places.reduce((a, b) => (b[0] < a[0] ? b : a), [text.length, '']);
      for (const [part] of text.slice(0, place).matchAll(PARTS)) numbers.push(...this.#merge(part));
      if (token !== '') numbers.push(this.#special.get(token));
      text = text.slice(place + token.length);
    }
    return numbers;
  }

  /** Joins the bytes of a part: always the pair that was joined first when the tokenizer was made. */
  #merge(part) {
    const pieces = Array.from(new TextEncoder().encode(part), (byte) => this.#letters[byte]);
    for (;;) {
      let best = Infinity, place = -1;
      for (let i = 0; i + 1 < pieces.length; i++) {
        const rank = this.#ranks.get(`${pieces[i]} ${pieces[i + 1]}`) ?? Infinity;
        if (rank < best) [best, place] = [rank, i];
      }
      if (place < 0) return pieces.map((piece) => this.#numbers.get(piece));
      pieces.splice(place, 2, pieces[place] + pieces[place + 1]);
    }
  }

  /** Returns a function that takes the numbers of tokens, one after the other, and returns what each adds to the text. */
  stream() {
    // A character can be of several tokens: the decoder holds bytes back until it is whole.
    const decoder = new TextDecoder();
    return (number) => {
      const token = this.#tokens[number];
      if (token === undefined || this.#special.has(token)) return '';
      return decoder.decode(Uint8Array.from(token, (letter) => this.#bytes.get(letter)), {stream: true});
    };
  }
}
