import type { MonitorType } from "../../../src/monitoring/monitors/kinds-schema.ts";
import { mysql } from "./mysql.ts";
import { domain } from "./domain.ts";
import { docker } from "./docker.ts";
import { game, goldSourceGame, minecraftGame } from "./game.ts";
import { grpc } from "./grpc.ts";
import { imap } from "./imap.ts";
import { kafka } from "./kafka.ts";
import { ldap } from "./ldap.ts";
import { mongodb } from "./mongodb.ts";
import { mqtt } from "./mqtt.ts";
import { mssql } from "./mssql.ts";
import { ntp } from "./ntp.ts";
import { pop3 } from "./pop3.ts";
import { postgres } from "./postgres.ts";
import type { Fake } from "./fake.ts";
import { rabbitmq } from "./rabbitmq.ts";
import { radius } from "./radius.ts";
import { redis } from "./redis.ts";
import { sip, sipOverTcp } from "./sip.ts";
import { smtp } from "./smtp.ts";
import { snmp } from "./snmp.ts";
import { statuspage } from "./statuspage.ts";
import { ssh } from "./ssh.ts";
import { websocket } from "./websocket.ts";

/** Types with their own tests, because they do not use one of our connections. */
export type TypeWithoutFake =
  | "http"
  | "tcp"
  | "ping"
  | "dns"
  | "tls"
  | "push"
  | "command"
  | "systemd"
  | "browser"
  | "composite"
  | "manual";

/** One server per type; the compiler requires one for a new type. */
export const fakes: Record<Exclude<MonitorType, TypeWithoutFake>, Fake> = {
  smtp,
  imap,
  pop3,
  ssh,
  mqtt,
  redis,
  postgres,
  mysql,
  mongodb,
  mssql,
  kafka,
  rabbitmq,
  ldap,
  sip,
  websocket,
  grpc,
  docker,
  snmp,
  radius,
  ntp,
  domain,
  statuspage,
  game,
};

/** More servers, for types with several protocols. */
export const otherFakes: [MonitorType, Fake][] = [
  ["game", goldSourceGame],
  ["game", minecraftGame],
  ["sip", sipOverTcp],
];
