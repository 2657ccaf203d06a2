import { NewMonitor } from "../../monitoring/monitors/schema.ts";
import { objects, secondsOf } from "./values.ts";
import { type Fields, isObject } from "../../core/objects.ts";
import { percentDecoded } from "../../core/text.ts";
import { type Converted, issueOf, text, within } from "../values.ts";

/** An endpoint as one of our monitors: whole, or paused with what it lacks. */
export function monitorOf(endpoint: Fields, isExternal: boolean, providers: Fields): Converted {
  const notes: string[] = [];
  const missing: string[] = [];
  const client = isObject(endpoint["client"]) ? endpoint["client"] : {};
  const heartbeat = isObject(endpoint["heartbeat"]) ? endpoint["heartbeat"] : {};
  const asked = secondsOf(isExternal ? heartbeat["interval"] : endpoint["interval"]) ?? 60;
  const interval = within(Math.round(asked) || 60, 5, 86_400);
  if (interval !== asked) notes.push(`Checked every ${interval} s instead of ${asked} s.`);
  const timeout = within(Math.round(secondsOf(client["timeout"]) ?? 10), 1, Math.min(60, interval));
  const [alert] = objects(endpoint["alerts"]);
  const provider = providers[text(alert?.["type"])];
  const usual =
    isObject(provider) && isObject(provider["default-alert"]) ? provider["default-alert"] : {};
  const threshold = (name: string, otherwise: number) =>
    Number(alert?.[name] ?? usual[name] ?? otherwise) || otherwise;
  const every = secondsOf(
    alert?.["minimum-reminder-interval"] ?? usual["minimum-reminder-interval"],
  );
  const common: Fields = {
    name: text(endpoint["name"]).slice(0, 255),
    interval,
    timeout,
    retries: within(threshold("failure-threshold", 3) - 1, 0, 10),
    retryInterval: interval,
    successThreshold: within(threshold("success-threshold", 2), 1, 10),
    reminderInterval: every === null || every === 0 ? null : within(Math.round(every), 60, 604_800),
    paused: endpoint["enabled"] === false,
  };
  const conditions = Array.isArray(endpoint["conditions"]) ? endpoint["conditions"].map(text) : [];
  const target = isExternal
    ? { type: "push", fields: { pushToken: text(endpoint["token"]), grace: 5 } }
    : isAboutDomain(conditions)
      ? { type: "domain", fields: { domain: hostOf(text(endpoint["url"])) } }
      : targetOf(endpoint, missing);
  if (isExternal)
    notes.push(
      "Its job reports to /push/TOKEN?status=up|down&msg=…, with the token that it has: Gatus' own address is not served.",
    );
  for (const condition of conditions) take(condition, target, notes, missing);
  const proxy = target.type === "http" ? proxyOf(text(client["proxy-url"])) : null;
  if (proxy !== null) Object.assign(target.fields, proxy);
  else if (client["proxy-url"] !== undefined) missing.push("client.proxy-url");
  for (const option of ["tunnel", "identity-aware-proxy", "tls"])
    if (client[option] !== undefined) missing.push(`client.${option}`);
  const { pushToken, ...own } = target.fields;
  const whole = { type: target.type, ...common, ...own };
  const issue = issueOf(NewMonitor, whole);
  const isWhole = issue === null && missing.length === 0;
  const reason =
    issue === null ? `Paused: it lacks ${missing.join(" and ")}.` : `Paused: ${issue}.`;
  const base = issue === null ? whole : { ...common, type: "push" };
  return {
    fields: {
      ...base,
      ...(typeof pushToken === "string" && pushToken !== "" && { pushToken }),
      ...(!isWhole && {
        paused: true,
        description:
          `${reason}\n\nGatus had here: ${text(endpoint["url"]).replace(/\/\/[^/@\s]*@/, "//")} ${conditions.join("; ")}`.slice(
            0,
            2_000,
          ),
      }),
    },
    notes: isWhole ? notes : [reason, ...notes],
    isIncomplete: !isWhole,
  };
}

/** The proxy as fields of a monitor; null for none that is one of ours. */
function proxyOf(address: string): Fields | null {
  const url = URL.parse(address);
  if (url === null || !["http:", "socks5:"].includes(url.protocol)) return null;
  return {
    proxyUrl: `${url.protocol}//${url.host}`,
    proxyUsername: percentDecoded(url.username) || null,
    proxyPassword: percentDecoded(url.password) || null,
  };
}

function oauth2Of(settings: Fields): Fields {
  return {
    tokenUrl: text(settings["token-url"]),
    clientId: text(settings["client-id"]),
    clientSecret: text(settings["client-secret"]) || null,
    scope:
      (Array.isArray(settings["scopes"]) ? settings["scopes"].map(text).join(" ") : "") || null,
  };
}

type Target = { type: string; fields: Fields };

const domainExpiry = "[DOMAIN_EXPIRATION]";

/** Whether nothing else is asked than how long the domain is registered for. */
const isAboutDomain = (conditions: readonly string[]) =>
  conditions.length > 0 &&
  conditions.every((condition) => condition.trimStart().startsWith(domainExpiry));

const hostOf = (address: string) =>
  (URL.parse(address.replace(/^\w+:/, "http:"))?.hostname ?? address).replace(/^\[|\]$/g, "");

function targetOf(endpoint: Fields, missing: string[]): Target {
  const address = text(endpoint["url"]);
  const dns = endpoint["dns"];
  const client = isObject(endpoint["client"]) ? endpoint["client"] : {};
  if (isObject(dns))
    return {
      type: "dns",
      fields: {
        host: text(dns["query-name"]).replace(/\.$/, ""),
        recordType: text(dns["query-type"]) || "A",
        resolver: address === "" ? null : address,
        expected: [],
      },
    };
  const [, scheme = "", rest = ""] = /^([a-z0-9+]+):\/\/(.*)$/i.exec(address) ?? [];
  const url = URL.parse(`http://${rest}`);
  const host = (url?.hostname ?? rest).replace(/^\[|\]$/g, "");
  const port = Number(url?.port || 0);
  switch (scheme.toLowerCase()) {
    case "http":
    case "https": {
      const isGraphql = endpoint["graphql"] === true;
      const headers = isObject(endpoint["headers"])
        ? Object.fromEntries(
            Object.entries(endpoint["headers"]).map(([name, value]) => [name, text(value)]),
          )
        : {};
      const body = text(endpoint["body"]);
      return {
        type: "http",
        fields: {
          url: address,
          method: text(endpoint["method"]).toUpperCase() || "GET",
          headers: isGraphql ? { "Content-Type": "application/json", ...headers } : headers,
          body: body === "" ? null : isGraphql ? JSON.stringify({ query: body }) : body,
          followRedirects: client["ignore-redirect"] !== true,
          verifyTls: client["insecure"] !== true,
          oauth2: isObject(client["oauth2"]) ? oauth2Of(client["oauth2"]) : null,
          // Without a condition Gatus takes any answer for right.
          expectedStatus: ["100-599"],
          certificateExpiryDays: null,
          assertions: [],
        },
      };
    }
    case "tcp":
      return { type: "tcp", fields: { host, port } };
    case "icmp":
      return { type: "ping", fields: { host } };
    case "tls":
      return { type: "tls", fields: { host, port: port || 443, certificateExpiryDays: null } };
    case "starttls":
      return {
        type: "smtp",
        fields: {
          host,
          port: port || 25,
          tls: "starttls",
          verifyTls: client["insecure"] !== true,
          certificateExpiryDays: null,
        },
      };
    case "ssh":
      if (signsIn(endpoint)) missing.push("signing in over SSH: its host key is asked for alone");
      return { type: "ssh", fields: { host, port: port || 22 } };
    default:
      missing.push(`the scheme ${scheme}`);
      return { type: "tcp", fields: { host, port: port || 80 } };
  }
}

/** Without a user Gatus asks an SSH server for no more than its greeting. */
const signsIn = ({ ssh }: Fields) =>
  isObject(ssh) && ["username", "password", "private-key"].some((name) => text(ssh[name]) !== "");

const operators: Record<string, string> = {
  "==": "equals",
  "!=": "notEquals",
  "<": "lessThan",
  ">": "greaterThan",
};

/** Has the monitor ask what a condition of Gatus asks. */
function take(condition: string, { type, fields }: Target, notes: string[], missing: string[]) {
  const [, left = "", operator = "", right = ""] =
    /^\s*(.+?)\s*(==|!=|<=|>=|<|>)\s*(.+?)\s*$/.exec(condition) ?? [];
  const lack = () => void missing.push(`the condition ${condition}`);
  const assertions = fields["assertions"] as Fields[] | undefined;
  const ask = (source: string, path: string | null, value: unknown, op = operators[operator]) =>
    op === undefined || assertions === undefined
      ? lack()
      : void assertions.push({ source, ...(path !== null && { path }), op, value });
  if (left === "[CONNECTED]") return operator === "==" && right === "true" ? undefined : lack();
  // The exit code, which is 0 where no command is run.
  if (left === "[STATUS]" && type === "ssh" && operator === "==" && right === "0") return undefined;
  if (left === "[STATUS]" && type === "http") {
    const codes = (/^any\((.+)\)$/.exec(right)?.[1] ?? right).split(",").map((one) => one.trim());
    if (operator === "==" && codes.every((code) => /^[1-5]\d\d$/.test(code)))
      return void (fields["expectedStatus"] = codes);
    const code = Number(right);
    if (operator === "<" && code > 100)
      return void (fields["expectedStatus"] = [`100-${Math.min(599, code - 1)}`]);
    return Number.isInteger(code) ? ask("status", null, code) : lack();
  }
  if (left === "[RESPONSE_TIME]") {
    const ms = Number(right.replace(/ms$/, ""));
    if (operator !== "<" || !(ms > 0)) return lack();
    if (assertions !== undefined) return ask("latency", null, ms, "lessThan");
    fields["degradedAfterMs"] = within(Math.round(ms), 1, 60_000);
    return void notes.push(`Degraded, not down, from ${ms} ms on.`);
  }
  if (left === "[CERTIFICATE_EXPIRATION]" && "certificateExpiryDays" in fields) {
    const seconds = secondsOf(right);
    if (!operator.startsWith(">") || seconds === null) return lack();
    fields["certificateExpiryDays"] = within(Math.ceil(seconds / 86_400), 1, 3_650);
    return void notes.push("Degraded, not down, when the certificate ends soon.");
  }
  if (left === domainExpiry) {
    const seconds = secondsOf(right);
    if (!operator.startsWith(">") || seconds === null) return lack();
    if (type === "domain")
      return void (fields["minDays"] = within(Math.ceil(seconds / 86_400), 1, 3_650));
    return void notes.push(
      `When its domain expires is not watched by this monitor (${condition}): make one of the type domain.`,
    );
  }
  const pattern = /^pat\(\*?(.*?)\*?\)$/.exec(right)?.[1];
  if (left === "[BODY]" && type === "http" && pattern !== undefined && !/[*?[\]]/.test(pattern))
    return operator === "=="
      ? ask("body", null, pattern, "contains")
      : ask("body", null, pattern, "notContains");
  if (left === "[BODY]" && type === "dns" && operator === "==")
    return void (fields["expected"] as string[]).push(right);
  const path = /^\[BODY\](\.?[\w.[\]]+)$/.exec(left)?.[1];
  const has = /^has\(\[BODY\](\.?[\w.[\]]+)\)$/.exec(left)?.[1];
  const jsonPath = (one: string) =>
    `$${one.startsWith(".") || one.startsWith("[") ? one : `.${one}`}`;
  if (type === "http" && has !== undefined)
    return ask(
      "json",
      jsonPath(has),
      null,
      (right === "true") === (operator === "==") ? "exists" : "notExists",
    );
  if (type === "http" && path !== undefined && pattern === undefined && !right.startsWith("any("))
    return ask(
      "json",
      jsonPath(path),
      /^-?\d+(\.\d+)?$/.test(right)
        ? Number(right)
        : right === "true"
          ? true
          : right === "false"
            ? false
            : right,
    );
  if (left === "[DNS_RCODE]" && right === "NOERROR" && operator === "==") return undefined;
  return lack();
}
