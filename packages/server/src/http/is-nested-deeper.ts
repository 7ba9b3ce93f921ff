const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Whether brackets that are not in strings are nested deeper than that. Takes a fraction of the time that parsing would. */
export function isNestedDeeper(json: Buffer, most: number): boolean {
  let depth = 0;
  for (let at = 0; at < json.length && depth <= most; at += 1) {
    switch (json[at]!) {
      case QUOTE:
        at = endOfString(json, at);
        break;
      case 0x5b: // [
      case 0x7b: // {
        depth += 1;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth -= 1;
    }
  }
  return depth > most;
}

/** Where the quote is that ends the string which begins here. */
function endOfString(json: Buffer, begin: number): number {
  for (let at = json.indexOf(QUOTE, begin + 1); at !== -1; at = json.indexOf(QUOTE, at + 1)) {
    let before = at - 1;
    while (json[before] === BACKSLASH) before -= 1;
    // After an even number of backslashes, it is not one of the string's own.
    if ((at - before) % 2 === 1) return at;
  }
  return json.length;
}
