import { describe, expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { createServer, type TLSSocket } from "node:tls";
import { findLongestPath } from "../../../src/core/outgoing/certificates/path.ts";
import { getFreePort } from "../../support/binary.ts";
import { runCheckOfType, startListener } from "../../support/check-runs.ts";
import {
  constrainNames,
  issueCertificate,
  exportKey,
  type KeyOwner,
  createKeyOwner,
  issueRoot,
} from "../../support/certificate-builder.ts";

const host = "127.0.0.1";
const names = ["localhost", "127.0.0.1"];

/** A server that sends these certificates. */
async function startServer(subject: KeyOwner, ...chain: string[]) {
  const server = createServer(
    { key: exportKey(subject), cert: chain.join("") },
    (socket: TLSSocket) => {
      socket.on("error", () => {});
      socket.end();
    },
  );
  const { promise, resolve } = Promise.withResolvers<void>();
  // Judgments are cached for a minute by address, and the system can assign a port twice.
  const port = getFreePort();
  server.listen(port, host, resolve);
  await promise;
  return {
    port,
    [Symbol.asyncDispose]: async () => void server.close(),
  };
}

const [oldRoot, newRoot, inter, leaf] = ["Old Root", "New Root", "Intermediate X", "leaf"].map(
  createKeyOwner,
) as [KeyOwner, KeyOwner, KeyOwner, KeyOwner];
const isAuthority = true;
const oldRootPem = issueRoot(oldRoot);
const newRootPem = issueRoot(newRoot);
const issuedByOld = issueCertificate(inter, oldRoot, { isAuthority, to: 100 });
const issuedByNew = issueCertificate(inter, newRoot, { isAuthority, to: 100 });
const issuedByOldExpired = issueCertificate(inter, oldRoot, { isAuthority, from: -50, to: -1 });
const leafPem = issueCertificate(leaf, inter, { names });

/** Findings for a server that sends `chain` and a client that trusts `authorities`. */
async function findOutcome(
  chain: string[],
  authorities: string,
  subject = leaf,
  fields: object = {},
) {
  await using server = await startServer(subject, ...chain);
  return await runCheckOfType(
    "tls",
    { host: "localhost", port: server.port, ...fields },
    { authorities },
  );
}

describe("a path to a trusted authority", () => {
  const untrusted = /authority (that )?is not trusted|authority that is not trusted/;

  test("is found for any order of the server's certificates", async () => {
    for (const chain of [
      [leafPem, issuedByNew],
      [leafPem, issuedByNew, issuedByOldExpired],
      [leafPem, issuedByOldExpired, issuedByNew],
      [leafPem, issuedByOld, issuedByNew],
      [leafPem, issuedByOld, issueRoot(oldRoot, { from: -50, to: -1 }), issuedByNew],
    ])
      expect(await findOutcome(chain, newRootPem)).toMatchObject({ status: "up" });
    const expiredRoot = issueRoot(oldRoot, { from: -50, to: -1 });
    expect(
      await findOutcome([leafPem, issuedByOld, issuedByNew], `${expiredRoot}${newRootPem}`),
    ).toMatchObject({
      status: "up",
    });
  });

  test("is rejected if one of its certificates is invalid", async () => {
    const impostor = createKeyOwner("Intermediate X");
    const nameConstraints = Buffer.from("300da00b3009820774657374", "hex");
    const bad: [string, string, KeyOwner?][] = [
      [leafPem, issueCertificate(inter, newRoot, { isAuthority: false })],
      [leafPem, issueCertificate(inter, newRoot, { isAuthority, isKeyForSigning: false })],
      [leafPem, issueCertificate(inter, newRoot, { isAuthority, from: -9, to: -1 })],
      [leafPem, issueCertificate(inter, newRoot, { isAuthority, from: 1, to: 9 })],
      [leafPem, issueCertificate(inter, newRoot, { isAuthority, usages: ["2b06010505070302"] })],
      [
        leafPem,
        issueCertificate(inter, newRoot, {
          isAuthority,
          more: [["551d1e", true, nameConstraints]],
        }),
      ],
      [
        leafPem,
        issueCertificate(inter, newRoot, {
          isAuthority,
          more: [["2a0304", true, Buffer.alloc(2)]],
        }),
      ],
      [leafPem, issueCertificate(impostor, newRoot, { isAuthority })],
      [leafPem, issueCertificate(inter, { ...createKeyOwner("New Root") }, { isAuthority })],
      [issueCertificate(leaf, inter, { names, usages: ["2b06010505070302"] }), issuedByNew],
    ];
    for (const [index, [sent, between]] of bad.entries()) {
      const outcome = await findOutcome([sent, issuedByOld, between], newRootPem);
      expect([index, outcome.status]).toEqual([index, "down"]);
    }
    const deep = createKeyOwner("deep");
    const deeper = issueCertificate(deep, inter, { isAuthority });
    const limited = issueCertificate(inter, newRoot, { isAuthority, maxPathLength: 0 });
    const below = issueCertificate(leaf, deep, { names });
    expect((await findOutcome([below, deeper, issuedByOld, limited], newRootPem)).status).toBe(
      "down",
    );
    expect((await findOutcome([below, deeper, issuedByOld, issuedByNew], newRootPem)).status).toBe(
      "up",
    );
  });

  test("is rejected with the reason if a certificate is not meant for its use", async () => {
    const readMessage = async (chain: string[]) => (await findOutcome(chain, newRootPem)).message;
    const wrongUse = "The certificate, or one that issued it, may not be used for this purpose.";
    const client = issueCertificate(leaf, inter, { names, usages: ["2b06010505070302"] });
    expect(await readMessage([client, issuedByNew])).toBe(wrongUse);
    const deep = createKeyOwner("deep");
    const limited = issueCertificate(inter, newRoot, { isAuthority, maxPathLength: 0 });
    const chain = [
      issueCertificate(leaf, deep, { names }),
      issueCertificate(deep, inter, { isAuthority }),
      limited,
    ];
    expect(await readMessage(chain)).toBe(
      "The certificate's chain is longer than one of its authorities permits.",
    );
  });

  test("ends at an intermediate certificate that the organization trusts", async () => {
    expect(await findOutcome([leafPem], issuedByNew)).toMatchObject({ status: "up" });
    expect(await findOutcome([leafPem, issuedByNew], issuedByNew)).toMatchObject({ status: "up" });
    expect(
      (await findOutcome([leafPem, issuedByOld], issueRoot(createKeyOwner("other")))).message,
    ).toMatch(untrusted);
  });

  test("with an expired authority names that authority", async () => {
    const expiredRoot = issueRoot(oldRoot, { from: -50, to: -1 });
    expect((await findOutcome([leafPem, issuedByOld], expiredRoot)).message).toBe(
      "A certificate between this one and its authority, or the authority's own, has expired.",
    );
    const expiredLeaf = issueCertificate(leaf, inter, { names, from: -9, to: -1 });
    expect((await findOutcome([expiredLeaf, issuedByNew], newRootPem)).message).toBe(
      "The certificate has expired.",
    );
  });

  test("is accepted if name constraints permit all names, and rejected with the reason otherwise", async () => {
    const issueInter = (value: Buffer) =>
      issueCertificate(inter, newRoot, { isAuthority, more: [["551d1e", true, value]] });
    const isPermitted = (
      own: readonly string[],
      ...subtrees: Parameters<typeof constrainNames>
    ) => {
      const sent = [
        issueCertificate(leaf, inter, { names: own }),
        issueInter(constrainNames(...subtrees)),
      ].map((pem) => new X509Certificate(pem).raw);
      return findLongestPath(sent, newRootPem, Date.now(), false) !== null;
    };
    const cases: [own: string[], permitted: string[], excluded: string[], boolean][] = [
      [["localhost", "127.0.0.1"], ["localhost", "127.0.0.0/255.0.0.0"], [], true],
      [["10.1.2.3"], ["127.0.0.0/255.0.0.0", "10.0.0.0/255.0.0.0"], [], true],
      [["11.1.2.3"], ["10.0.0.0/255.0.0.0"], [], false],
      [["shop.example"], ["10.0.0.0/255.0.0.0"], [], true],
      [["shop.example"], [], ["0.0.0.0/0.0.0.0"], true],
      [["10.1.2.3"], [], ["0.0.0.0/0.0.0.0"], false],
      [["a.SHOP.example"], ["shop.example"], [], true],
      [["workshop.example"], ["shop.example"], [], false],
      [["shop.example"], [".shop.example"], [], false],
      [["*.shop.example"], ["shop.example"], [], true],
      [["*.example"], ["shop.example"], [], false],
      [["*.example"], [], ["shop.example"], false],
      [["example"], [], ["shop.example"], true],
      [["shop.example", "other.example"], ["shop.example"], [], false],
      [["shop.example"], [""], [], true],
      [["shop.example"], [], [], false],
    ];
    for (const [own, permitted, excluded, wanted] of cases)
      expect([own, permitted, excluded, isPermitted(own, permitted, excluded)]).toEqual([
        own,
        permitted,
        excluded,
        wanted,
      ]);
    const allowed = issueInter(constrainNames(["localhost", "127.0.0.0/255.0.0.0"], []));
    expect(await findOutcome([leafPem, allowed], newRootPem)).toMatchObject({ status: "up" });
    const denied = issueInter(constrainNames(["shop.example"], []));
    expect((await findOutcome([leafPem, denied], newRootPem)).message).toBe(
      "The certificate is not valid: an authority does not permit its names, or a critical extension is not supported.",
    );
  });

  test("is searched within limits", () => {
    const parties = Array.from({ length: 40 }, () => createKeyOwner("same"));
    const sent = [
      issueCertificate(leaf, parties[0] as KeyOwner, { names }),
      ...parties.flatMap((one, index) =>
        [1, 7, 13].map((step) =>
          issueCertificate(one, parties[(index + step) % parties.length] as KeyOwner, {
            isAuthority,
          }),
        ),
      ),
    ].map((pem) => new X509Certificate(pem).raw);
    expect(findLongestPath(sent, newRootPem, Date.now(), false)).toBeNull();
  });
});

describe("the first expiry on the path", () => {
  test("can be an intermediate's or the authority's, and is named so", async () => {
    const soon = issueCertificate(inter, newRoot, { isAuthority, to: 2.5 });
    const datePattern = /on \d{4}-\d\d-\d\d \d\d:\d\d UTC\.$/.source;
    const expectStart = (start: string) =>
      expect.stringMatching(new RegExp(`^${start}, ${datePattern}`));
    expect(await findOutcome([leafPem, soon], newRootPem)).toMatchObject({
      status: "degraded",
      message: expectStart("An intermediate certificate expires in 2 days"),
      certificateExpiresAt: new X509Certificate(soon).validToDate.toISOString(),
    });
    const shortRoot = issueRoot(newRoot, { to: 5.5 });
    expect(await findOutcome([leafPem, issuedByNew], shortRoot)).toMatchObject({
      status: "degraded",
      message: expectStart("The authority's own certificate expires in 5 days"),
    });
    expect(await findOutcome([leafPem, issuedByNew], newRootPem)).toMatchObject({
      status: "up",
      message: expectStart(
        "The certificate is valid\\. An intermediate certificate expires before it",
      ),
    });
    const longer = issueCertificate(inter, newRoot, { isAuthority, to: 500 });
    expect(await findOutcome([leafPem, longer], newRootPem)).toMatchObject({
      status: "up",
      message: expect.stringMatching(/^The certificate is valid until/),
    });
  });

  test("is that of the path that lasts longest", async () => {
    const soon = issueCertificate(inter, oldRoot, { isAuthority, to: 2.5 });
    for (const chain of [
      [leafPem, soon, issuedByNew],
      [leafPem, issuedByNew, soon],
    ])
      expect(await findOutcome(chain, `${oldRootPem}${newRootPem}`)).toMatchObject({
        status: "up",
        certificateExpiresAt: new X509Certificate(issuedByNew).validToDate.toISOString(),
      });
  });

  test("affects other monitor types, too", async () => {
    const soon = issueCertificate(inter, newRoot, { isAuthority, to: 2.5 });
    await using server = await startServer(leaf, leafPem, soon);
    const fields = { host: "localhost", port: server.port, tls: true };
    const outcome = await runCheckOfType("redis", fields, { authorities: newRootPem });
    expect(outcome.status).toBe("down");
    expect(outcome.message).toBe("The connection was closed before the response was complete.");
  });
});

describe("the names of a certificate", () => {
  const judge = async (serverName: string, own: readonly string[], common = "leaf") => {
    const subject = { ...leaf, name: common };
    const chain = [issueCertificate(subject, newRoot, { names: own })];
    const outcome = await findOutcome(chain, newRootPem, subject, { serverName });
    return outcome.status === "up" ? "up" : outcome.message;
  };
  const other = "The certificate is for another name.";

  test("are its alternative names, with * as a whole label", async () => {
    const cases: [string, readonly string[], string][] = [
      ["shop.example", ["shop.example"], "up"],
      ["SHOP.example.", ["shop.EXAMPLE"], "up"],
      ["a.shop.example", ["*.shop.example"], "up"],
      ["a.b.shop.example", ["*.shop.example"], other],
      ["shop.example", ["*.shop.example"], other],
      ["a_b.shop.example", ["*.shop.example"], "up"],
      ["_.shop.example", ["*.shop.example"], "up"],
      ["a_b.shop.example", ["aab.shop.example"], other],
      ["a.s_p.example", ["*.sap.example"], other],
      ["plain.shop.example", ["pl*.shop.example"], other],
      ["plain.shop.example", ["*n.shop.example"], other],
      ["plain.shop.example", ["plain.*.example"], other],
      ["127.0.0.1", ["127.0.0.1"], "up"],
      ["127.0.0.1", ["localhost"], other],
      ["münchen.example", ["xn--mnchen-3ya.example"], "up"],
      ["日本.example", ["xn--wgv71a.example"], "up"],
    ];
    for (const [name, own, message] of cases)
      expect([name, own, await judge(name, own)]).toEqual([name, own, message]);
  });

  test("do not include the common name", async () => {
    for (const own of [[], ["127.0.0.1"], ["other.example"]])
      expect(await judge("shop.example", own, "shop.example")).toBe(
        "The certificate has this name only as its common name, which no longer counts: it must be a subject alternative name.",
      );
  });
});

/** Server name in a ClientHello (RFC 8446 §4.1.2, RFC 6066 §3); null if there is none. */
function readServerName(hello: Buffer): string | null {
  let at = 5 + 4 + 2 + 32;
  at += 1 + hello.readUInt8(at);
  at += 2 + hello.readUInt16BE(at);
  at += 1 + hello.readUInt8(at);
  const end = at + 2 + hello.readUInt16BE(at);
  for (at += 2; at < end; at += 4 + hello.readUInt16BE(at + 2))
    if (hello.readUInt16BE(at) === 0)
      return hello.toString("utf8", at + 9, at + 4 + hello.readUInt16BE(at + 2));
  return null;
}

test("the server name is sent without a trailing dot, in A-labels, and never for an address", async () => {
  const cases: [object, string | null][] = [
    [{ host: "127.0.0.1" }, null],
    [{ host: "localhost" }, "localhost"],
    [{ host: "localhost." }, "localhost"],
    [{ host: "127.0.0.1", serverName: "shop.example." }, "shop.example"],
    [{ host: "127.0.0.1", serverName: "Café.example" }, "xn--caf-dma.example"],
    [{ host: "localhost", serverName: "127.0.0.1" }, null],
  ];
  for (const [fields, name] of cases) {
    const hello = Promise.withResolvers<Buffer>();
    await using server = await startListener((socket) =>
      socket.once("data", (data) => {
        hello.resolve(data);
        socket.destroy();
      }),
    );
    await runCheckOfType("tls", { port: server.port, ...fields });
    expect([fields, readServerName(await hello.promise)]).toEqual([fields, name]);
  }
});
