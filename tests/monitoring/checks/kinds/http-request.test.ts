import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { replyOnce, runCheckOfType, startListener } from "../../../support/check-runs.ts";
import { replyWith, startTarget } from "../../../support/target.ts";

/** Runs a check with these fields, and returns the request that the site received. */
async function requestWith(fields: object) {
  await using site = await startTarget();
  const path = "path" in fields ? String(fields.path) : "/";
  const { path: _, ...own } = fields as { path?: string };
  const outcome = await runCheckOfType("http", { url: site.at(path), method: "POST", ...own });
  expect(outcome.status).toBe("up");
  expect(JSON.stringify(outcome)).not.toContain(site.asked[0]?.path ?? "?");
  return site.asked[0] ?? { method: "", path: "", headers: {}, body: "" };
}

/** The form fields that a browser or a server would read from it. */
async function parseForm({ headers, body }: { headers: object; body: string }) {
  const type = (headers as Record<string, string>)["content-type"] ?? "";
  return new Response(body, { headers: { "Content-Type": type } }).formData();
}

const buildField = (name: string, value: string) => ({ name, value });

describe("the body of a request", () => {
  test("is sent unchanged, or as JSON with its content type unless a header sets another", async () => {
    const plain = await requestWith({ body: '{"a":1}' });
    expect([plain.body, plain.headers["content-type"]]).toEqual(['{"a":1}', undefined]);
    const json = await requestWith({ bodyType: "json", body: '{"a":1}' });
    expect([json.body, json.headers["content-type"]]).toEqual(['{"a":1}', "application/json"]);
    const headers = { "content-type": "application/problem+json" };
    const typed = await requestWith({ bodyType: "json", body: "{}", headers });
    expect(typed.headers["content-type"]).toBe("application/problem+json");
    const withoutBody = await requestWith({ bodyType: "json", method: "GET" });
    expect([withoutBody.body, withoutBody.headers["content-type"]]).toEqual(["", undefined]);
  });

  test.each(["form", "multipart"])(
    "of the type %s has all of its fields, and no others",
    async (bodyType) => {
      const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 });
      const name = text.filter((name) =>
        /^[^\p{Cc}\p{Cf}\u2028\u2029]*\S[^\p{Cc}\p{Cf}\u2028\u2029]*$/u.test(name),
      );
      await fc.assert(
        fc.asyncProperty(
          fc.array(
            fc.record({ name, value: text.map((value) => value.replace(/\r?\n|\r/g, "\r\n")) }),
            { maxLength: 4 },
          ),
          async (form) => {
            const request = await requestWith({
              bodyType,
              form,
              headers: { "Content-Type": "a/b" },
            });
            if (bodyType === "form") expect(request.headers["content-type"]).toBe("a/b");
            const headers =
              bodyType === "form"
                ? { "content-type": "application/x-www-form-urlencoded" }
                : request.headers;
            const read =
              form.length === 0 ? [] : [...(await parseForm({ ...request, headers })).entries()];
            expect(read as unknown).toEqual(
              form.map(({ name, value }) => [
                name.replaceAll('"', bodyType === "form" ? '"' : "%22"),
                value,
              ]),
            );
          },
        ),
        { numRuns: 10 },
      );
    },
  );

  test("can have files", async () => {
    const form = [
      { ...buildField("file", "a,b\r\n1,2"), fileName: 'of "today".csv', contentType: "text/csv" },
    ];
    const request = await requestWith({ bodyType: "multipart", form });
    expect(request.body).toContain(
      'Content-Disposition: form-data; name="file"; filename="of %22today%22.csv"\r\nContent-Type: text/csv\r\n\r\na,b',
    );
    const file = (await parseForm(request)).get("file") as File;
    expect([file.type, await file.text()]).toEqual(["text/csv", "a,b\r\n1,2"]);
  });
});

test("the cache buster differs for each request, and leaves the rest of the address unchanged", async () => {
  const [one, other, alone] = await Promise.all([
    requestWith({ path: "/a?q=%7e+x", cacheBuster: true }),
    requestWith({ path: "/a?q=%7e+x", cacheBuster: true }),
    requestWith({ path: "/a", cacheBuster: true }),
  ]);
  expect(one.path).toMatch(/^\/a\?q=%7e\+x&_=[0-9A-Za-z]{16}$/);
  expect(alone.path).toMatch(/^\/a\?_=[0-9A-Za-z]{16}$/);
  expect(other.path).not.toBe(one.path);
});

test("the target of a redirect gets no cache buster", async () => {
  await using site = await startTarget();
  site.setReply(replyWith(200, "here"), "/b");
  site.setReply((response) => {
    response.writeHead(302, { location: "/b" }).end();
  });
  expect((await runCheckOfType("http", { url: site.at("/a"), cacheBuster: true })).status).toBe(
    "up",
  );
  expect(site.asked.map(({ path }) => path.replace(/=.*/, ""))).toEqual(["/a?_", "/b"]);
});

test("the path is requested as a browser does, with an empty query", async () => {
  for (const [path, requested] of [
    ["/a?", "/a?"],
    ["/a?#b?", "/a?"],
    ["/a#b?", "/a"],
    ["/a%2Fb//c?x=%zz&y[]=1", "/a%2Fb//c?x=%zz&y[]=1"],
  ])
    expect((await requestWith({ path })).path).toBe(requested ?? "");
});

test("a status above 599 is accepted if it is expected", async () => {
  await using site = await startListener(
    replyOnce("HTTP/1.1 999 Request denied\r\nContent-Length: 0\r\n\r\n"),
  );
  const check = (expectedStatus: string[]) =>
    runCheckOfType("http", { url: site.url, expectedStatus });
  expect(await check(["200-299", "999"])).toMatchObject({ status: "up" });
  expect(await check(["100-599"])).toMatchObject({ message: "HTTP 999, expected 100-599." });
});
