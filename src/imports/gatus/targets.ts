/** Converts the URL of a Gatus endpoint to a monitor type with its fields. Lists unsupported parts. */
import { createLookup } from "../../core/collections/objects.ts";
import { isIP } from "node:net";
import type { Fields } from "../../core/collections/objects.ts";
import { decodePercent } from "../../core/text/formatting.ts";
import { applyHostHeader, selectHeaders } from "../host-header.ts";
import type { Section } from "./section.ts";

export type Target = {
  type: string;
  fields: Fields;
  notes: string[];
  /** Parts of the check that are not supported here. */
  missing: string[];
};

/** Reads a file that the configuration refers to. Returns null if it is missing or reading files is not allowed. */
export type ReadNamedFile = (path: string) => Promise<string | null>;

export const hostOf = (address: string) =>
  (URL.parse(address.replace(/^\w+:/, "http:"))?.hostname ?? address).replace(/^\[|\]$/g, "");

export async function buildTarget(endpoint: Section, readFile: ReadNamedFile): Promise<Target> {
  const address = endpoint.text("url");
  const client = endpoint.map("client");
  const dns = endpoint.has("dns");
  const scheme = /^([a-z0-9+]+):\/\//i.exec(address)?.[1]?.toLowerCase() ?? "";
  const target: Target = dns
    ? buildDnsTarget(endpoint.map("dns"), address)
    : (targets[scheme]?.(endpoint, client, splitAddress(address)) ??
      buildFallbackTarget(scheme, address));
  const unfilled = unfilledPlaceholder.exec(endpoint.text("body"));
  if (unfilled !== null && ["http", "tcp", "websocket"].includes(target.type))
    target.missing.push(`${unfilled[0]} in the body`);
  if (!["http", "https"].includes(scheme) || dns) ignoreHttpKeys(endpoint);
  await applyClient(client, target, readFile);
  return target;
}

type Parts = { address: string; host: string; port: number; username: string; password: string };

function splitAddress(address: string): Parts {
  const addressPart = address.replace(/^[^:]*:\/\//, "");
  const url = URL.parse(`http://${addressPart}`);
  // URLs of HTTP have no port 80.
  const port = URL.parse(`other://${addressPart}`)?.port;
  const host = (url?.hostname ?? addressPart).replace(/^\[|\]$/g, "");
  return {
    address,
    host,
    port: Number(port || 0),
    username: decodePercent(url?.username ?? ""),
    password: decodePercent(url?.password ?? ""),
  };
}

const createTarget = (type: string, fields: Fields): Target => ({
  type,
  fields,
  notes: [],
  missing: [],
});

const convertHttp = (endpoint: Section, client: Section, parts: Parts) =>
  buildHttpTarget(endpoint, client, parts);
const convertWebSocket = (endpoint: Section, client: Section, parts: Parts): Target => ({
  ...createTarget("websocket", {
    url: stripUser(parts.address),
    headers: { ...buildAuthorization(parts), ...selectHeaders(endpoint.table("headers"), []) },
    send: fillBody(endpoint) || null,
    expect: null,
    verifyTls: client.flag("insecure") !== true,
    certificateExpiryDays: null,
  }),
  notes: ["Up once the server accepts the connection. Gatus also waits for a message."],
});
const createGrpcConverter =
  (tls: boolean) =>
  (_endpoint: Section, client: Section, { host, port }: Parts): Target => ({
    ...createTarget("grpc", {
      host,
      port: port || (tls ? 443 : 80),
      tls,
      verifyTls: client.flag("insecure") !== true,
      certificateExpiryDays: null,
    }),
    notes: ["Down unless the server reports SERVING. Gatus requires that only with [BODY].status."],
  });

type MakeTarget = (endpoint: Section, client: Section, parts: Parts) => Target;
const targets: Readonly<Record<string, MakeTarget>> = createLookup({
  http: convertHttp,
  https: convertHttp,
  ws: convertWebSocket,
  wss: convertWebSocket,
  grpc: createGrpcConverter(false),
  grpcs: createGrpcConverter(true),
  icmp: (_endpoint, _client, { host }) => createTarget("ping", { host }),
  tcp(endpoint, _client, { host, port }) {
    const send = fillBody(endpoint);
    const target = createTarget("tcp", { host, port, send: send || null, expect: null });
    if (send !== "")
      target.notes.push("Up once the text is sent. Gatus also waits for a response.");
    return target;
  },
  tls(endpoint, client, { host, port }) {
    const target = createTarget("tls", { host, port: port || 443, certificateExpiryDays: null });
    if (client.flag("insecure") === true)
      target.missing.push("client.insecure: this type requires a trusted certificate");
    if (fillBody(endpoint) !== "") target.missing.push("body: nothing is sent over TLS");
    return target;
  },
  starttls: (_endpoint, client, { host, port }) =>
    createTarget("smtp", {
      host,
      port: port || 25,
      tls: "starttls",
      verifyTls: client.flag("insecure") !== true,
      certificateExpiryDays: null,
    }),
  ssh(endpoint, _client, { host, port }) {
    const ssh = endpoint.map("ssh");
    const target = createTarget("ssh", { host, port: port || 22 });
    const credentials = ["username", "password", "private-key", "passphrase"].filter(
      (key) => ssh.text(key) !== "",
    );
    // Without credentials, Gatus only reads the greeting.
    if (credentials.length > 0)
      target.missing.push(
        `${credentials.map((key) => `ssh.${key}`).join(", ")}: signing in and running a command`,
      );
    return target;
  },
});

const buildFallbackTarget = (scheme: string, address: string): Target => {
  const { host, port } = splitAddress(address);
  const target = createTarget("tcp", { host, port: port || 80 });
  target.missing.push(scheme === "" ? "a URL with a scheme" : `the scheme ${scheme}`);
  return target;
};

function buildDnsTarget(dns: Section, address: string): Target {
  const target = createTarget("dns", {
    host: dns.text("query-name").replace(/\.$/, ""),
    recordType: dns.text("query-type") || "A",
    resolver: null,
    expected: [],
  });
  const [, host = "", port] = /^(.*?)(?::(\d+))?$/.exec(address.replace(/^\w+:\/\//, "")) ?? [];
  const bare = (isIP(address) === 0 ? host : address).replace(/^\[|\]$/g, "");
  const family = isIP(bare);
  if (family === 0 && address !== "")
    target.missing.push(`the IP address of its name server ${address}`);
  else if (address !== "")
    target.fields["resolver"] =
      port === undefined || isIP(address) !== 0
        ? bare
        : `${family === 6 ? `[${bare}]` : bare}:${port}`;
  return target;
}

/** Marks HTTP keys as read. Gatus accepts them for all endpoints but uses them only for HTTP. */
function ignoreHttpKeys(endpoint: Section) {
  for (const key of ["method", "headers", "graphql", "body"]) endpoint.value(key);
}

/** Placeholders of a body that have another value in each check. */
const unfilledPlaceholder = /\[(?:RANDOM_STRING_\d+|LOCAL_ADDRESS)\]/;

/** Returns the body with Gatus' placeholders filled in. */
function fillBody(endpoint: Section): string {
  return endpoint
    .text("body")
    .replaceAll("[ENDPOINT_NAME]", endpoint.text("name"))
    .replaceAll("[ENDPOINT_GROUP]", endpoint.text("group"))
    .replaceAll("[ENDPOINT_URL]", endpoint.text("url"));
}

const stripUser = (address: string) => address.replace(/^(\w+:\/\/)[^/?#]*@/, "$1");

const buildAuthorization = ({ username, password }: Parts): Record<string, string> =>
  username === "" && password === ""
    ? {}
    : { Authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}` };

function buildHttpTarget(endpoint: Section, client: Section, parts: Parts): Target {
  const isGraphql = endpoint.flag("graphql") === true;
  const writtenHeaders = endpoint.table("headers");
  const body = fillBody(endpoint);
  const notes: string[] = [];
  const headers = selectHeaders(writtenHeaders, notes);
  const { username, password } = parts;
  const canSignIn = username !== "" && !username.includes(":") && !("Authorization" in headers);
  const target: Target = {
    ...createTarget("http", {
      // Go requests an address with spaces as a browser does.
      url: stripUser(parts.address).replaceAll(" ", "%20"),
      method: endpoint.text("method") || "GET",
      headers: {
        ...(isGraphql && { "Content-Type": "application/json" }),
        ...(!canSignIn && buildAuthorization(parts)),
        ...headers,
      },
      body: body === "" ? null : isGraphql ? JSON.stringify({ query: body }) : body,
      basicAuth: canSignIn ? { username, password: password || null } : null,
      followRedirects: client.flag("ignore-redirect") !== true,
      verifyTls: client.flag("insecure") !== true,
      oauth2: null,
      // In Gatus, only the conditions decide about success.
      expectedStatus: ["100-999"],
      certificateExpiryDays: null,
      assertions: [],
    }),
    notes,
  };
  if (writtenHeaders["Host"] !== undefined) applyHostHeader(target, writtenHeaders["Host"]);
  applyOAuth2(client, target);
  applyProxy(client, target);
  return target;
}

function applyOAuth2(client: Section, target: Target) {
  if (!client.has("oauth2")) return;
  const oauth2 = client.map("oauth2");
  target.fields["oauth2"] = {
    tokenUrl: oauth2.text("token-url"),
    clientId: oauth2.text("client-id"),
    clientSecret: oauth2.text("client-secret") || null,
    scope: oauth2.texts("scopes").join(" ") || null,
  };
}

function applyProxy(client: Section, target: Target) {
  const address = client.text("proxy-url");
  if (address === "") return;
  const url = URL.parse(address);
  if (url === null || !["http:", "https:", "socks5:"].includes(url.protocol))
    return void target.missing.push("client.proxy-url: a proxy of HTTP, HTTPS or SOCKS5");
  Object.assign(target.fields, {
    proxyUrl: `${url.protocol}//${url.host}`,
    proxyUsername: decodePercent(url.username) || null,
    proxyPassword: decodePercent(url.password) || null,
  });
  if ("connectTo" in target.fields) {
    delete target.fields["connectTo"];
    target.missing.push("the header Host through a proxy");
  }
}

/** Applies client settings that are valid for every type of endpoint. */
async function applyClient(client: Section, target: Target, readFile: ReadNamedFile) {
  const { type, missing, notes } = target;
  // Gatus uses these keys only for HTTP, so they are marked as read.
  for (const key of ["proxy-url", "insecure", "ignore-redirect", "oauth2"]) client.value(key);
  const resolver = client.text("dns-resolver");
  if (resolver !== "" && ["http", "smtp", "grpc"].includes(type))
    notes.push(`Without client.dns-resolver: this machine resolves names, not ${resolver}.`);
  if (type !== "ping") client.value("network");
  if (client.has("tunnel")) missing.push("client.tunnel: an SSH tunnel");
  if (client.has("identity-aware-proxy")) {
    client.map("identity-aware-proxy").value("audience");
    missing.push("client.identity-aware-proxy");
  }
  if (client.has("kerberos") && type === "http")
    missing.push("client.kerberos: signing in with Kerberos");
  if (client.has("tls") && ["http", "websocket", "grpc"].includes(type))
    await applyCertificate(client.map("tls"), target, readFile);
  else client.value("tls");
}

async function applyCertificate(
  tls: Section,
  { type, fields, missing }: Target,
  readFile: ReadNamedFile,
) {
  const paths = [tls.text("certificate-file"), tls.text("private-key-file")];
  if (paths.includes("")) return;
  if (type !== "http") return void missing.push("client.tls: a client certificate");
  const [certificate = null, key = null] = await Promise.all(paths.map(readFile));
  if (certificate === null || key === null)
    return void missing.push(
      `client.tls: ${paths.join(" and ")} can't be read here. Enter the client certificate at the monitor`,
    );
  Object.assign(fields, { clientCertificate: certificate, clientKey: key });
}
