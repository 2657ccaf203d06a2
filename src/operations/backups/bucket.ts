import { type XmlElement, parseXml } from "@rgrove/parse-xml";
import { AwsV4Signer } from "aws4fetch";
import { statSync } from "node:fs";
import { release } from "../../core/system/garbage.ts";
import { exchange, type ShortAnswer } from "../../core/outgoing/http/exchange.ts";
import { TargetFailure } from "../../core/outgoing/failures.ts";
import { named } from "../../core/outgoing/http/response.ts";
import type { TargetGuard } from "../../core/security/target-guard.ts";
import type { Bucket } from "./schedule-schema.ts";

const partBytes = 8 * 1024 * 1024;
/** An answer to this is short enough to be read whole. */
const namesAtOnce = 100;

/** How long one request has, and how often it is made where that may help. */
export type Patience = { timeoutMs: number; attempts: number };

/** Enough for a part at 14 kB a second. */
const usual: Patience = { timeoutMs: 600_000, attempts: 3 };
/** After the first attempt; four times as long after each more. */
const waitMs = 200;

type Query = Readonly<Record<string, string>>;
type Content = string | Uint8Array | null;

/**
 * A bucket of any service that speaks S3, addressed by path, over connections of our own: Bun's client
 * resolves the name by itself and follows redirects, both around the target guard.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_Operations_Amazon_Simple_Storage_Service.html
 */
export function bucketClient(
  bucket: Bucket,
  targets: TargetGuard,
  { timeoutMs, attempts }: Patience = usual,
) {
  const { endpoint, region, accessKeyId, secretAccessKey } = bucket;

  async function ask(method: string, key: string, query: Query = {}, body: Content = null) {
    const url = new URL(`/${bucket.bucket}/${key}`, endpoint);
    url.search = new URLSearchParams(query).toString();
    const signer = new AwsV4Signer({
      method,
      url: url.href,
      headers: { "X-Amz-Content-Sha256": Bun.SHA256.hash(body ?? "", "hex") },
      accessKeyId,
      secretAccessKey: secretAccessKey ?? "",
      service: "s3",
      region,
    });
    const { headers } = await signer.sign();
    const request = { url, method, headers: Object.fromEntries(headers), body, verifyTls: true };
    const cancelled = new AbortController().signal;
    return exchange(request, { targets, timeoutMs, cancelled });
  }

  /** Tries again what may come right by itself. */
  async function mustSucceed(...asked: Parameters<typeof ask>): Promise<ShortAnswer> {
    for (let attempt = 1; ; attempt++) {
      const answer = await ask(...asked).catch((error: unknown) => {
        if (attempt === attempts || !(error instanceof TargetFailure) || error.final) throw error;
        return null;
      });
      if (answer !== null && isSuccess(answer)) return answer;
      if (answer !== null && (attempt === attempts || answer.status < 500)) throw refused(answer);
      await Bun.sleep(waitMs * 4 ** (attempt - 1));
    }
  }

  async function putInParts(key: string, file: string, size: number) {
    const { body } = await mustSucceed("POST", key, { uploads: "" });
    const uploadId = textsOf(body, "UploadId")[0] ?? "";
    try {
      const tags: string[] = [];
      for (let at = 0; at < size; at += partBytes) {
        const part = await Bun.file(file)
          .slice(at, at + partBytes)
          .bytes();
        const query = { partNumber: String(tags.length + 1), uploadId };
        const { headers } = await mustSucceed("PUT", key, query, part);
        tags.push(headers.get("etag") ?? "");
        release(part);
      }
      const parts = tags.map(
        (tag, index) =>
          `<Part><PartNumber>${index + 1}</PartNumber><ETag>${tag.replaceAll("&", "&amp;").replaceAll("<", "&lt;")}</ETag></Part>`,
      );
      const whole = `<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>`;
      // A failure may come with 200, since the answer begins before it is known.
      const answer = await mustSucceed("POST", key, { uploadId }, whole);
      if (textsOf(answer.body, "ETag").length === 0) throw refused(answer);
    } catch (error) {
      await ask("DELETE", key, { uploadId }).catch(() => {});
      throw error;
    }
  }

  return {
    /** Writes a file under this key and returns its bytes, as the service counts them. */
    async put(key: string, file: string): Promise<number> {
      const { size } = statSync(file);
      if (size > partBytes) await putInParts(key, file, size);
      else await mustSucceed("PUT", key, {}, await Bun.file(file).bytes());
      const { headers } = await mustSucceed("HEAD", key);
      const stored = Number(headers.get("content-length"));
      if (stored !== size) throw new Error(`The bucket holds ${stored} bytes of ${size}.`);
      return size;
    },
    async keys(prefix: string): Promise<string[]> {
      const keys: string[] = [];
      let more: Query = {};
      for (;;) {
        const query = { "list-type": "2", "max-keys": String(namesAtOnce), prefix, ...more };
        const { body } = await mustSucceed("GET", "", query);
        keys.push(...textsOf(body, "Key"));
        const [token] = textsOf(body, "NextContinuationToken");
        if (token === undefined) return keys;
        more = { "continuation-token": token };
      }
    },
    async remove(key: string) {
      await mustSucceed("DELETE", key);
    },
  };
}

const isSuccess = ({ status }: ShortAnswer) => status >= 200 && status < 300;

/** Of the service's own words the code alone, which is one of a list. */
function refused({ status, body }: ShortAnswer): TargetFailure {
  const [code = ""] = /^\s*</.test(body) ? textsOf(body, "Code") : [];
  const isCode = /^[A-Za-z]{1,60}$/.test(code);
  const elsewhere = status >= 300 && status < 400 ? "; name the final address instead" : "";
  return new TargetFailure(
    `The service answered ${named(status)}${isCode ? `: ${code}` : ""}${elsewhere}.`,
  );
}

/** The texts of all elements of this name; none where it is no XML. */
function textsOf(xml: string, name: string): string[] {
  const inside = (element: XmlElement): string[] =>
    element.children.flatMap((child) => {
      if (child.type !== "element") return [];
      const one = child as XmlElement;
      return one.name === name ? [one.text] : inside(one);
    });
  try {
    const { root } = parseXml(xml);
    return root === null ? [] : inside(root);
  } catch {
    return [];
  }
}
