import { isOn, listIn, orNull } from "./values.ts";
import type { Fields } from "../../core/collections/objects.ts";
import { text } from "../values.ts";

/** A monitor's type and the fields of its own; `missing` is why it comes in paused. */
export type Mapped = { type: string; fields: Fields; notes?: string[]; missing?: string[] };

export const connection = (m: Fields) => text(m["database_connection_string"]);
export const comparisonOf = (m: Fields) =>
  `the comparison ${text(m["json_path_operator"]) || "=="} ${text(m["expected_value"])}`;

/** Types that ask whether the server answers, and nothing of their own. */
const asksNothing = new Set(["mssql", "mongodb"]);
const isPing = (query: string) => /^\s*\{\s*"(?:ping|hello)"\s*:\s*1\s*\}\s*$/.test(query);

/** A database, as its connection string names it: a URL, or `Server=…;Database=…`. */
export function database(m: Fields, type: string, usualPort: number): Mapped {
  const own = /(?:^|;)\s*server\s*=/i.test(connection(m))
    ? inPairs(connection(m))
    : inUrl(connection(m));
  // Oracle has its user, and MySQL its password, in columns of something else.
  const username = own.username ?? (type === "oracle" ? orNull(m["basic_auth_user"]) : null);
  const elsewhere =
    type === "oracle" ? m["basic_auth_pass"] : type === "mysql" ? m["radius_password"] : null;
  const query = orNull(m["database_query"]);
  const conditions = listIn(m["conditions"]);
  return {
    type,
    fields: {
      ...own,
      port: own.port || usualPort,
      username,
      password: orNull(elsewhere) ?? own.password,
      ...(query !== null && { query: query.replace(/\s+/g, " ").trim() }),
      ...(isOn(m["ignore_tls"]) && { verifyTls: false }),
      ...(type === "mongodb" && { authDatabase: authDatabaseOf(connection(m)) }),
      certificateExpiryDays: null,
    },
    missing: [
      // Where the type here asks nothing, what is asked there has no equal, unless it asks nothing either.
      ...(query !== null &&
      !(/^\s*select\s+1\s*;?\s*$/i.test(query) || isPing(query)) &&
      asksNothing.has(type)
        ? [`its query: the server is asked for an answer alone`]
        : []),
      ...(conditions.length === 0
        ? []
        : [`its conditions on the result (${JSON.stringify(conditions).slice(0, 300)})`]),
      ...(type === "mongodb" && orNull(m["expected_value"]) !== null && !isOk(m)
        ? [`${comparisonOf(m)} at ${text(m["json_path"])}`]
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

/** Whether MongoDB is asked for no more than that it is well. */
const isOk = (m: Fields) =>
  isPing(text(m["database_query"])) &&
  /^(?:\$\.)?ok$/.test(text(m["json_path"])) &&
  text(m["expected_value"]) === "1";

/** Where MongoDB looks for the user (https://www.mongodb.com/docs/manual/reference/connection-string-options/#mongodb-urioption-urioption.authSource). */
function authDatabaseOf(address: string): string {
  const url = URL.parse(address);
  return url?.searchParams.get("authSource") ?? (url?.pathname.replace(/^\//, "") || "admin");
}

function inUrl(address: string): Server {
  const url = URL.parse(address);
  const part = (value: string | undefined) => {
    try {
      return value === undefined || value === "" ? null : decodeURIComponent(value);
    } catch {
      return value ?? null;
    }
  };
  const option = (name: string) => url?.searchParams.get(name) ?? "";
  const mode = option("sslmode") || option("ssl-mode");
  const isSecure =
    /^(?:rediss|mongodb\+srv)/.test(address) ||
    /^(?:require|required|verify.*)$/i.test(mode) ||
    [option("ssl"), option("tls")].some(
      (value) => value !== "" && value !== "false" && value !== "0",
    );
  return {
    host: (url?.hostname ?? "").replace(/^\[|\]$/g, ""),
    port: Number(url?.port),
    username: part(url?.username),
    password: part(url?.password),
    database: part(url?.pathname.replace(/^\//, "")),
    tls: isSecure,
    // As the drivers have it: what is merely required is encrypted, and trusts anybody.
    verifyTls: !/^require(?:d)?$/i.test(mode),
  };
}

function inPairs(pairs: string): Server {
  const values = new Map(
    pairs.split(";").map((pair) => {
      const [name = "", ...value] = pair.split("=");
      return [name.trim().toLowerCase(), value.join("=").trim()];
    }),
  );
  const of = (...names: string[]) =>
    names.map((name) => values.get(name)).find((value) => value !== undefined && value !== "") ??
    null;
  const [host = "", port] = (of("server", "data source") ?? "").replace(/^tcp:/i, "").split(",");
  const isYes = (value: string | null) => /^(?:true|yes|mandatory|strict)$/i.test(value ?? "");
  return {
    host,
    port: Number(port ?? of("port")),
    username: of("user id", "uid", "user"),
    password: of("password", "pwd"),
    database: of("database", "initial catalog"),
    tls: isYes(of("encrypt")),
    verifyTls: !isYes(of("trustservercertificate", "trust server certificate")),
  };
}
