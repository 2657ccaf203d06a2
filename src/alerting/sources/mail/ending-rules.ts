/** Decides whether the subject of a mail reports the end of a problem, if its source has no words of its own. */

/** Words of an end. Those in the first group end a problem even if the subject names a failure. */
const endingWords =
  /(?<![\p{L}\p{N}])(?:(resolved|recovered|recovery|restored|cleared|back to normal)|(up|online)|ok|success|successful|successfully|succeeded)(?![\p{L}\p{N}])/giu;
const failureWords =
  /(?<![\p{L}\p{N}])(?:fail|fails|failed|failing|failures?|unsuccessful|unsuccessfully|missing|degraded|incomplete|aborted|crashed|(?:is|are|went|goes) down)(?![\p{L}\p{N}])/giu;
/** Such as “DOWN: …”. */
const leadingFailure = /^[^\p{L}\p{N}]*down(?![\p{L}\p{N}])/iu;
/** Such as “success rate”. */
const rateAfter = /^\s{1,3}(?:rates?|ratio)(?![\p{L}\p{N}])/iu;
/** Such as “OK: …”, “[Up] …”, with any text after it. */
const leadingEnding = /^[^\p{L}\p{N}]*(?:ok|success|successful|up|online)\s{0,3}[:|\]–—]/iu;
const states =
  "(?:ok|up|online|normal|down|offline|warn|warning|crit|critical|error|failed|alert|alarm|problem|unknown|degraded)(?![\\p{L}\\p{N}])";
/** The state before a change, such as `OK -> CRIT`, “OK to CRITICAL” or “was DOWN”. */
const earlierState = new RegExp(
  `[\\p{L}\\p{N}]{1,20}\\s{0,3}(?:->|=>|→)|(?<![\\p{L}\\p{N}])(?:${states}\\s{1,3}to(?=\\s{1,3}${states})|was\\s{1,3}${states})`,
  "giu",
);
/** States that tools write in capitals. */
const failureStates =
  /(?<![\p{L}\p{N}])(?:DOWN|OFFLINE|CRIT|CRITICAL|ERROR|PROBLEM)(?![\p{L}\p{N}])/gu;
/** Cron mails what a command printed, with the command as the subject. */
const cron = /^Cron <[^<>\s]+@[^<>\s]+> /i;

/** Part of a name or a path, such as `up.example.com` or `/opt/recovery/run`. */
const nameBefore = /(?:[\p{L}\p{N}][._/@]|\/)$/u;
const nameAfter = /^[._/@][\p{L}\p{N}]/u;
/** Such as “could not be”, “failed to back” or “isn't”. */
const negation =
  /(?:(?<![\p{L}\p{N}])(?:not|never|no|without|cannot|(?:unable|fail(?:s|ed|ing)?) to)|n['’]t)\s{1,3}(?:\p{L}{1,20}\s{1,3}){0,2}$/iu;
/** Such as “filling up”, “set up” or “start-up”. */
const otherUpBefore =
  /(?:(?:\p{L}ing|(?<![\p{L}\p{N}])(?:fill(?:s|ed)|pile[sd]?|set|start(?:s|ed)?|look(?:s|ed)?|clean(?:s|ed)?|hung|hangs?|shut|lock(?:s|ed)?|sign(?:s|ed)?|used?|backed|catch(?:es)?|caught|follow(?:s|ed)?|heads|speeds?|warm(?:s|ed)?|wakes?|ramp(?:s|ed)?|picks?|queue[sd]?|stack(?:s|ed)?|builds?|built|frees?|wraps?|(?:^|(?:to|please|must|should|and)\s{1,3})back))\s{1,3}|[\p{L}\p{N}]-)$/iu;
const otherUpAfter = /^(?:\s{1,3}to(?![\p{L}\p{N}])|-[\p{L}\p{N}])/iu;
/** Such as “0 failed” or “without any failures”. */
const negationBefore = /(?<![\p{L}\p{N}])(?:0|no|zero|without(?: any)?)\s{1,3}$/iu;

/** Characters before a word that decide about it. Without this limit, the search would be quadratic. */
const contextLength = 80;

type EndingMatch = { match: RegExpExecArray; before: string; after: string };

/** Returns the matches that are not part of a name, with their surroundings. */
function* findWords(pattern: RegExp, text: string): Generator<EndingMatch> {
  for (const match of text.matchAll(pattern)) {
    const before = text.slice(Math.max(0, match.index - contextLength), match.index);
    const end = match.index + match[0].length;
    const after = text.slice(end, end + contextLength);
    if (!nameBefore.test(before) && !nameAfter.test(after)) yield { match, before, after };
  }
}

const isOtherUp = (before: string, after: string) =>
  otherUpBefore.test(before) || otherUpAfter.test(after);

/** Whether a subject reports the end of a problem. In doubt it reports a problem, which no one must miss. */
export function isUsualEnd(subject: string): boolean {
  if (cron.test(subject)) return false;
  const text = subject.replace(earlierState, " ");
  if (leadingEnding.test(text)) return true;
  let isWeak = false;
  for (const { match, before, after } of findWords(endingWords, text)) {
    if (negation.test(before)) continue;
    const [, isClear, isUp] = match;
    if (isClear !== undefined) return true;
    if (isUp === undefined ? !rateAfter.test(after) : !isOtherUp(before, after)) isWeak = true;
  }
  if (!isWeak || leadingFailure.test(text)) return false;
  for (const words of [failureWords, failureStates])
    for (const { before } of findWords(words, text)) if (!negationBefore.test(before)) return false;
  return true;
}
