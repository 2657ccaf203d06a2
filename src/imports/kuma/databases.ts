/** Converts database monitors of Uptime Kuma, whose targets are connection strings. */
import { isOn, parseList, toTextOrNull } from "./values.ts";
import type { Fields } from "../../core/collections/objects.ts";
import { decodePercent } from "../../core/text/formatting.ts";
import { toText } from "../values.ts";

/** Type and fields of a monitor. `missing` lists the reasons for pausing it. */
export type MappedMonitor = { type: string; fields: Fields; notes?: string[]; missing?: string[] };

export const connectionStringOf = (m: Fields) => toText(m["database_connection_string"]);
export const describeComparison = (m: Fields) =>
  `the comparison ${toText(m["json_path_operator"]) || "=="} ${toText(m["expected_value"])}`;

/** Types that only check whether the server responds, without a custom query. */
const typesWithoutQuery = new Set(["mssql", "mongodb"]);
const isPing = (query: string) => /^\s*\{\s*"(?:ping|hello)"\s*:\s*1\s*\}\s*$/.test(query);

/** Converts a database monitor. Its connection string is a URL or `Server=…;Database=…`. */
export function convertDatabase(m: Fields, type: string, usualPort: number): MappedMonitor {
  const { first, others } = splitServers(connectionStringOf(m));
  const connectionFields = /(?:^|;)\s*server\s*=/i.test(first)
    ? parsePairs(first)
    : parseUrl(first);
  // Uptime Kuma stores Oracle credentials and MySQL passwords in columns of other types.
  const username =
    connectionFields.username ?? (type === "oracle" ? toTextOrNull(m["basic_auth_user"]) : null);
  const misplacedPassword =
    type === "oracle" ? m["basic_auth_pass"] : type === "mysql" ? m["radius_password"] : null;
  const query = toTextOrNull(m["database_query"]);
  const conditions = parseList(m["conditions"]);
  return {
    type,
    fields: {
      ...connectionFields,
      port: connectionFields.port || usualPort,
      username,
      password: toTextOrNull(misplacedPassword) ?? connectionFields.password,
      ...(query !== null && { query: query.replace(/\s+/g, " ").trim() }),
      ...(isOn(m["ignore_tls"]) && { verifyTls: false }),
      ...(type === "mongodb" && { authDatabase: parseAuthDatabase(first) }),
      certificateExpiryDays: null,
    },
    notes:
      others === ""
        ? []
        : [`Checks only the first server. Create separate monitors for: ${others}.`],
    missing: [
      ...(first.startsWith("mongodb+srv:")
        ? [
            "the servers of its mongodb+srv address, which are in DNS: enter the host of one of them",
          ]
        : []),
      // These types run no custom query. A ping or `select 1` is equivalent to the built-in check.
      ...(query !== null &&
      !(/^\s*select\s+1\s*;?\s*$/i.test(query) || isPing(query)) &&
      typesWithoutQuery.has(type)
        ? [`its query: this type only checks that the server responds`]
        : []),
      ...(conditions.length === 0
        ? []
        : [`its conditions on the result (${JSON.stringify(conditions).slice(0, 300)})`]),
      ...(type === "mongodb" && toTextOrNull(m["expected_value"]) !== null && !requiresOnlyOk(m)
        ? [`${describeComparison(m)} at ${toText(m["json_path"])}`]
        : []),
    ],
  };
}

type Server = Record<"username" | "password" | "database", string | null> & {
  host: string;
  port: number;
  tls: boolean;
  verifyTls: boolean;
};

/** Whether the MongoDB check only requires `ok: 1` as the response to a ping. */
const requiresOnlyOk = (m: Fields) =>
  isPing(toText(m["database_query"])) &&
  /^(?:\$\.)?ok$/.test(toText(m["json_path"])) &&
  toText(m["expected_value"]) === "1";

/** Keeps the first of several servers in a URL, such as those of a replica set. */
function splitServers(address: string): { first: string; others: string } {
  const [, start = "", hosts = "", rest = ""] =
    /^(\w[\w+]*:\/\/(?:[^/?#]*@)?)([^/?#@]+)(.*)$/s.exec(address) ?? [];
  const [host = "", ...others] = hosts.split(",");
  return others.length === 0
    ? { first: address, others: "" }
    : { first: `${start}${host}${rest}`, others: others.join(", ") };
}

/**
 * Returns the authentication database of a MongoDB URL.
 * https://www.mongodb.com/docs/manual/reference/connection-string-options/#mongodb-urioption-urioption.authSource
 */
function parseAuthDatabase(address: string): string {
  const url = URL.parse(address);
  return url?.searchParams.get("authSource") ?? (url?.pathname.replace(/^\//, "") || "admin");
}

function parseUrl(address: string): Server {
  const url = URL.parse(address);
  const decodePart = (value = "") => (value === "" ? null : decodePercent(value));
  const searchParam = (name: string) => url?.searchParams.get(name) ?? "";
  const mode = searchParam("sslmode") || searchParam("ssl-mode");
  const isSecure =
    /^(?:rediss|mongodb\+srv)/.test(address) ||
    /^(?:require|required|verify.*)$/i.test(mode) ||
    [searchParam("ssl"), searchParam("tls")].some(
      (value) => value !== "" && value !== "false" && value !== "0",
    );
  return {
    host: (url?.hostname ?? "").replace(/^\[|\]$/g, ""),
    port: Number(url?.port),
    username: decodePart(url?.username),
    password: decodePart(url?.password),
    database: decodePart(url?.pathname.replace(/^\//, "")),
    tls: isSecure,
    // As in the drivers, `require` encrypts without verifying the certificate.
    verifyTls: !/^require(?:d)?$/i.test(mode),
  };
}

function parsePairs(pairs: string): Server {
  const values = new Map(
    pairs.split(";").map((pair) => {
      const [name = "", ...value] = pair.split("=");
      return [name.trim().toLowerCase(), value.join("=").trim()];
    }),
  );
  const findFirstValue = (...names: string[]) =>
    names.map((name) => values.get(name)).find((value) => value !== undefined && value !== "") ??
    null;
  const [host = "", port] = (findFirstValue("server", "data source") ?? "")
    .replace(/^tcp:/i, "")
    .split(",");
  const isYes = (value: string | null) => /^(?:true|yes|mandatory|strict)$/i.test(value ?? "");
  return {
    host,
    port: Number(port ?? findFirstValue("port")),
    username: findFirstValue("user id", "uid", "user"),
    password: findFirstValue("password", "pwd"),
    database: findFirstValue("database", "initial catalog"),
    tls: isYes(findFirstValue("encrypt")),
    verifyTls: !isYes(findFirstValue("trustservercertificate", "trust server certificate")),
  };
}
