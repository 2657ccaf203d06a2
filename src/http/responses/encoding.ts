export type Encoding = "br" | "gzip" | "identity";

const allEncodings: readonly Encoding[] = ["br", "gzip"];

/** A parsed header: the weight of each coding, and the choice among all encodings. */
type AcceptedEncodings = { weights: Partial<Record<string, number>>; best: Encoding };

/** Parsed header values. Browsers send few different ones. */
const parsedValues = new Map<string, AcceptedEncodings>();

/**
 * Picks the encoding with the highest q-value in Accept-Encoding (RFC 9110 §12.5.3). Ties go to the first offered
 * one; q=0 excludes. Without a match, the response is not encoded.
 */
export function selectEncoding({ headers }: Request, offered = allEncodings): Encoding {
  const value = headers.get("accept-encoding");
  if (value === null) return "identity";
  const { weights, best } = parsedValues.get(value) ?? parseAccepted(value);
  return offered === allEncodings ? best : findBest(weights, offered);
}

function findBest(weights: AcceptedEncodings["weights"], offered: readonly Encoding[]): Encoding {
  let best: Encoding = "identity";
  let bestWeight = 0;
  for (const encoding of [...offered, "identity"] as const) {
    const others = encoding === "identity" ? 0 : weights["*"];
    const weight = weights[encoding] ?? others ?? 0;
    if (weight <= bestWeight) continue;
    best = encoding;
    bestWeight = weight;
  }
  return best;
}

function parseAccepted(value: string): AcceptedEncodings {
  const weights: AcceptedEncodings["weights"] = Object.create(null);
  for (const entry of value.toLowerCase().split(",")) {
    const [, coding = "", weight = "1"] =
      /^\s*([!#$%&'*+.^_`|~0-9a-z-]+)\s*(?:;\s*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*)?$/.exec(
        entry,
      ) ?? [];
    if (coding !== "") weights[coding === "x-gzip" ? "gzip" : coding] = Number(weight);
  }
  const accepted = { weights, best: findBest(weights, allEncodings) };
  if (parsedValues.size >= 100) parsedValues.clear();
  if (value.length <= 200) parsedValues.set(value, accepted);
  return accepted;
}

/** Returns the ETag for an encoding, because other bytes need another tag (RFC 9110 §8.8.3). */
export function addEncodingToTag(encoding: Encoding, etag: string): string {
  return encoding === "identity" ? etag : etag.replace(/"$/, `-${encoding}"`);
}

/** Whether If-None-Match contains the tag, by weak comparison (RFC 9110 §13.1.2). */
export function hasTag({ headers }: Request, etag: string): boolean {
  const known = headers.get("if-none-match");
  if (known === null) return false;
  return known.split(",").some((tag) => ["*", etag].includes(tag.trim().replace(/^W\//, "")));
}
