/** How deep a JSON text is nested, also where it breaks off. */
export function depthOf(text: string): number {
  let [depth, deepest, inString] = [0, 0, false];
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (inString) {
      if (code === 0x5c) index++;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x5b || code === 0x7b) deepest = Math.max(deepest, ++depth);
    else if (code === 0x5d || code === 0x7d) depth--;
  }
  return deepest;
}

/** An answer that is nested deeper is not read: a MB of brackets would hold the event loop for 0.1 s. */
export const maxAnswerDepth = 256;
