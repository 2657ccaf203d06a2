/** Converts Uptime Kuma monitors of services such as Docker, mail, gRPC, MQTT and game servers. */
import { describeComparison, type MappedMonitor } from "./databases.ts";
import {
  hostOf,
  hostAndPortOf,
  isOn,
  parseColumn,
  parseFields,
  parseList,
  toNumber,
  toTextOrNull,
} from "./values.ts";
import { selectHeaders, separateHost } from "../host-header.ts";
import { convertComparison, convertExpiry, parseHeaders, buildJsonAssertion } from "./web.ts";
import type { Fields } from "../../core/collections/objects.ts";
import { toText } from "../values.ts";

export function convertDocker(m: Fields, daemon: Fields | undefined): MappedMonitor {
  if (daemon === undefined)
    return {
      type: "docker",
      fields: { container: toText(m["docker_container"]) },
      missing: ["its Docker host, which is not in this file"],
    };
  const address = toText(daemon["docker_daemon"]);
  const url = URL.parse(address.replace(/^tcp:/, "http:"));
  const isSocket = toText(daemon["docker_type"]) === "socket" || address === "";
  const tls = url?.protocol === "https:" || url?.port === "2376";
  // Uptime Kuma requests the daemon over HTTP, also at tcp://, and URLs of HTTP have no port 80 or 443.
  const usualPort = url?.protocol === "https:" ? 443 : 80;
  return {
    type: "docker",
    fields: {
      container: toText(m["docker_container"]),
      ...(isSocket
        ? { host: null }
        : { host: url?.hostname ?? "", port: Number(url?.port) || usualPort, tls }),
      certificateExpiryDays: null,
    },
    missing:
      isSocket && address !== "" && address !== "/var/run/docker.sock"
        ? [`the socket ${address}`]
        : [],
  };
}

/** Returns the TLS mode of a mail or port monitor. */
export const tlsOf = (m: Fields): "none" | "starttls" | "tls" => {
  const security = toText(m["smtp_security"]);
  return security === "secure" ? "tls" : security === "starttls" ? "starttls" : "none";
};

export const convertSmtp = (m: Fields): MappedMonitor => ({
  type: "smtp",
  fields: { ...hostAndPortOf(m, 25), tls: tlsOf(m), certificateExpiryDays: null },
  notes:
    toText(m["smtp_security"]) === ""
      ? ["Does not start TLS; Uptime Kuma did if the server offered it."]
      : [],
});

/**
 * Converts a port monitor with STARTTLS. Uptime Kuma detects SMTP, IMAP or XMPP from the greeting;
 * here the port decides.
 */
export function startTls(m: Fields): MappedMonitor {
  const port = toNumber(m["port"]);
  if (port === 5222 || port === 5269)
    return {
      type: "tcp",
      fields: hostAndPortOf(m),
      missing: ["STARTTLS of XMPP: only the connection is checked"],
    };
  return {
    type: port === 143 ? "imap" : "smtp",
    fields: { ...hostAndPortOf(m), tls: "starttls", ...convertExpiry(m) },
    notes: port === 143 ? [] : ["Uses SMTP, regardless of the server's greeting."],
  };
}

export function convertMqtt(m: Fields): MappedMonitor {
  const [, scheme = "mqtt", name = ""] = /^(?:(\w+):\/\/)?(.*)$/.exec(hostOf(m)) ?? [];
  const expected = toTextOrNull(m["mqtt_success_message"]);
  const asksJson = toText(m["mqtt_check_type"]) === "json-query";
  const {
    assertion,
    notes,
    missing = [],
  } = asksJson
    ? buildJsonAssertion(m)
    : { assertion: expected && { source: "body", op: "contains", value: expected }, notes: [] };
  if (/^wss?$/.test(scheme)) missing.push("MQTT over WebSocket");
  if (parseList(m["conditions"]).length > 0) missing.push("its conditions on the message");
  return {
    type: "mqtt",
    fields: {
      ...hostAndPortOf(m, 1883),
      host: name,
      tls: /^(mqtts|ssl|tls|https|wss)$/.test(scheme),
      topic: toText(m["mqtt_topic"]),
      username: toTextOrNull(m["mqtt_username"]),
      password: toTextOrNull(m["mqtt_password"]),
      waitForMessage: true,
      assertions: assertion === null ? [] : [assertion],
      certificateExpiryDays: null,
    },
    notes,
    missing,
  };
}

export function convertSnmp(m: Fields): MappedMonitor {
  const version = toText(m["snmp_version"]) || "2c";
  const expected = toText(m["expected_value"]);
  const operator = toText(m["json_path_operator"]) || "==";
  const comparison = expected === "" ? null : convertComparison(operator, expected, expected);
  const isLacking = expected !== "" && comparison === null;
  return {
    type: "snmp",
    fields: {
      ...hostAndPortOf(m, 161),
      snmpVersion: version,
      community: version === "3" ? null : toTextOrNull(m["radius_password"]),
      username: version === "3" ? toTextOrNull(m["snmp_v3_username"]) : null,
      oid: toText(m["snmp_oid"]),
      assertions: comparison === null ? [] : [{ source: "body", ...comparison }],
    },
    missing: isLacking ? [describeComparison(m)] : [],
  };
}

/** Converts a gRPC monitor. Only the standard gRPC health check has an equivalent. */
export function convertGrpc(m: Fields): MappedMonitor {
  const [, name = "", port] = /^\[?([^\]]+?)\]?:(\d+)$/.exec(toText(m["grpc_url"])) ?? [];
  const isHealth =
    /\bgrpc\.health\.v1\b/.test(toText(m["grpc_protobuf"])) &&
    toText(m["grpc_method"]).toLowerCase() === "check" &&
    toText(m["keyword"]) === "SERVING" &&
    !isOn(m["invert_keyword"]);
  const body = parseColumn(m["grpc_body"]) as { service?: unknown } | null;
  return {
    type: "grpc",
    fields: {
      host: name,
      port: Number(port),
      tls: isOn(m["grpc_enable_tls"]),
      service: toTextOrNull(body?.service),
      certificateExpiryDays: null,
    },
    notes:
      toTextOrNull(m["grpc_metadata"]) === null ? [] : ["Sends no metadata with the health check."],
    missing: isHealth ? [] : ["its own protocol file and keyword"],
  };
}

export function convertWebSocket(m: Fields): MappedMonitor {
  const notes: string[] = [];
  const { host, headers } = separateHost(parseHeaders(m));
  const fields = {
    url: toText(m["url"]),
    headers: { ...selectHeaders(headers, notes), ...buildSubprotocolHeader(m) },
    certificateExpiryDays: null,
  };
  const isOther = host !== null && host.toLowerCase() !== URL.parse(fields.url)?.host;
  return {
    type: "websocket",
    fields,
    notes: isOn(m["ws_ignore_sec_websocket_accept_header"])
      ? [...notes, "The server must respond with the correct Sec-WebSocket-Accept."]
      : notes,
    missing: isOther ? [`the header Host: ${host}`] : [],
  };
}

/** Builds the header that offers the subprotocols, which Uptime Kuma separates by commas. */
function buildSubprotocolHeader(m: Fields): Record<string, string> {
  const names = toText(m["ws_subprotocol"])
    .split(",")
    .map((name) => name.trim());
  const offered = names.filter((name) => name !== "").join(", ");
  return offered === "" ? {} : { "Sec-WebSocket-Protocol": offered };
}

export const convertRadius = (m: Fields): MappedMonitor => ({
  type: "radius",
  fields: {
    ...hostAndPortOf(m, 1812),
    username: toText(m["radius_username"]),
    password: toTextOrNull(m["radius_password"]),
    secret: toTextOrNull(m["radius_secret"]),
  },
  notes: [m["radius_calling_station_id"], m["radius_called_station_id"]].some(
    (id) => toTextOrNull(id) !== null,
  )
    ? ["Sends no calling and called station id."]
    : [],
});

/** Games that gamedig queries with the Source protocol. */
const sourceGames = new Set(
  "a2oa aapg abioticfactor actionsource ageofchivalry ahl alienswarm americasarmy3 americasarmypg aoc arkse arma2 arma2oa arma3 armareforger armare as ase atlas avorion avp2010 ballisticoverkill barotrauma basedefense bat1944 battalion1944 bd blackmesa bladesymphony brainbread brainbread2 breach brink bs chivalry cmw codbo3 codenamecure codmw3 colonysurvival conanexiles contagion corekeeper counterstrike15 counterstrike16 counterstrike2 creativerse cs15 cs16 cs2 cscz csgo css dab dal daysofwar dayofdragons dayzmod ddd deathmatchclassic dinodday dmc dmomam dnl dod dods doi dota2 dow dst dystopia egs em empiresmod empyrion enshrouded ets2 exfil fof fortressforever foundry garrysmod ges goldeneyesource groundbreach gunmanchronicles hidden hl2d hl2dm hld hldm hldms hlds hll hlof hlopfor homefront hurtworld icarus imic insurgency insurgencymic insurgencysandstorm isle jc3m jc3mp killingfloor2 kreedzclimbing kzmod l4d l4d2 left4dead left4dead2 medievalengineers mnc moe mordhau naturalselection naturalselection2 nla nmrih ns ns2 nucleardawn ohd onset pc pc2 pce pixark postscriptum primalcarnage projectcars projectcars2 projectzomboid przomboid ps pvak2 pvkii quakelive ragdollkungfu rdkf redorchestra2 rfactor2 ricochet risingworld ror2 rs2 rs2v rust shatteredhorizon ship sinep sinepisodes sonsoftheforest sotf soulmask spaceengineers starbound stn suicidesurvival svencoop synergy teamfortress2 tf2 tfc theforest forrest thefront thehidden theisle theship thespecialists towerunite unturned valheim vampireslayer vrising vs wurm wurmunlimited zombiemaster zps".split(
    " ",
  ),
);

export const convertGame = (m: Fields, name: string): MappedMonitor => ({
  type: "game",
  fields: { ...hostAndPortOf(m), protocol: name === "minecraft" ? "minecraft" : "source" },
  notes:
    m["gamedig_given_port_only"] === undefined || isOn(m["gamedig_given_port_only"])
      ? []
      : ["Queries only this port, not the game's usual query port."],
  missing:
    name === "minecraft" || sourceGames.has(name) ? [] : [`the protocol of the game ${name}`],
});

const mechanisms = ["plain", "scram-sha-256", "scram-sha-512"];

export function convertKafka(m: Fields): MappedMonitor {
  const [first = "", ...others] = parseList(m["kafka_producer_brokers"]).map(toText);
  const [, name = first, port] = /^(.+):(\d+)$/.exec(first) ?? [];
  const sasl = parseFields(m["kafka_producer_sasl_options"]);
  const mechanism = toText(sasl["mechanism"]).toLowerCase();
  const hasSasl = mechanism !== "" && mechanism !== "none";
  return {
    type: "kafka",
    fields: {
      host: name,
      port: Number(port) || 9092,
      topic: toTextOrNull(m["kafka_producer_topic"]),
      tls: isOn(m["kafka_producer_ssl"]),
      ...(hasSasl && {
        mechanism,
        username: toTextOrNull(sasl["username"]),
        password: toTextOrNull(sasl["password"]),
      }),
      certificateExpiryDays: null,
    },
    notes: [
      "Requests the topic and its leaders; it sends no message.",
      ...(others.length === 0 ? [] : [`Checks only the first broker, not ${others.join(", ")}.`]),
    ],
    missing: !hasSasl || mechanisms.includes(mechanism) ? [] : [`signing in by ${mechanism}`],
  };
}

export const convertNtp = (m: Fields): MappedMonitor => ({
  type: "ntp",
  fields: {
    ...hostAndPortOf(m, 123),
    ...(toNumber(m["ntp_time_offset_threshold"]) > 0 && {
      maxOffsetMs: Math.round(toNumber(m["ntp_time_offset_threshold"])),
    }),
    ...(toNumber(m["ntp_stratum_threshold"]) > 0 && {
      maxStratum: toNumber(m["ntp_stratum_threshold"]),
    }),
  },
  notes:
    toNumber(m["ntp_root_dispersion_threshold"]) > 0 ? ["The root dispersion is not judged."] : [],
});
