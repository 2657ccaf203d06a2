import type { MonitorType } from "../../../../src/monitoring/monitors/kinds-schema.ts";

const common = "M4 16a8 8 0 0 1 16 0M12 16l3.5-5M4 20h16";
const database =
  "M4 6c0-1.7 3.6-3 8-3s8 1.3 8 3-3.6 3-8 3-8-1.3-8-3M4 6v12c0 1.7 3.6 3 8 3s8-1.3 8-3V6M4 12c0 1.7 3.6 3 8 3s8-1.3 8-3";

/** Icon paths in a 24 × 24 box, drawn with a single stroke. Other types share a default icon. */
const marks: Partial<Record<MonitorType, string>> = {
  http: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M3 12h18M12 3c5 5.5 5 12.5 0 18M12 3c-5 5.5-5 12.5 0 18",
  tcp: "M8 3v6M16 3v6M5 9h14v3a7 7 0 0 1-14 0zM12 19v3",
  ping: "M3 12h4l3-8 4 16 3-8h4",
  dns: "M3 5h18v6H3zM3 13h18v6H3zM7 8h.01M7 16h.01",
  tls: "M6 11h12v10H6zM8.5 11V7.5a3.5 3.5 0 0 1 7 0V11M12 15v2",
  push: "M12 15V4M7.5 8.5 12 4l4.5 4.5M4 15v5h16v-5",
  smtp: "M3 6h18v13H3zM3 7l9 7 9-7",
  imap: "M4 13 6.5 5h11L20 13v6H4zM4 13h4.5l1.5 3h4l1.5-3H20",
  pop3: "M4 13v6h16v-6M4 13h4.5l1.5 3h4l1.5-3H20M12 3v8M9 8l3 3 3-3",
  ssh: "M3 5h18v14H3zM7 9l3 3-3 3M12 15h5",
  mqtt: "M4 20v-.01M4 14a6 6 0 0 1 6 6M4 9a11 11 0 0 1 11 11M4 4a16 16 0 0 1 16 16",
  redis: "m3 8 9-4 9 4-9 4zM3 12l9 4 9-4M3 16l9 4 9-4",
  postgres: database,
  mysql: database,
  mongodb: "M12 3c4 4 5.5 7 5.5 10S15 18 12 19c-3-1-5.5-3-5.5-6S8 7 12 3M12 8v13",
  mssql: database,
  kafka:
    "M8 9.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5M16 5a2 2 0 1 0 0 4 2 2 0 0 0 0-4M16 15a2 2 0 1 0 0 4 2 2 0 0 0 0-4M10.3 10.9l3.9-2.7M10.3 13.1l3.9 2.7",
  websocket: "M4 8h13l-3-3M20 16H7l3 3",
  grpc: "M9 7 4 12l5 5M15 7l5 5-5 5M13 5l-2 14",
  docker: "M3 12h16c2 0 2-2 3-3-1 7-4 11-10 11S4 17 3 12M5 9h3v3M9 9h3v3M13 9h3v3M9 5h3v4",
  snmp: "M4 4h16v7H4zM12 11v4M6 20v-5h12v5M4 20h4M16 20h4M8 7.5h.01",
  radius: "M12 3 5 6v5c0 5 3 8 7 10 4-2 7-5 7-10V6zM9 12l2 2 4-4",
  ntp: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M12 7v5l3.5 2",
  domain: "M4 20V4h8l2 2h6v9h-6l-2-2H4M8 8.5h.01",
  game: "M7 7h10a5 5 0 0 1 5 5c0 3-1 6-3 6-2 0-2-3-4-3H9c-2 0-2 3-4 3-2 0-3-3-3-6a5 5 0 0 1 5-5M7.5 9.5v4M5.5 11.5h4M16 10.5h.01M18 12.5h.01",
  command: "M3 5h18v14H3zM7 9l3 3-3 3M12 15h5",
  systemd:
    "M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6M12 3v3M12 18v3M3 12h3M18 12h3M5.6 5.6l2.2 2.2M16.2 16.2l2.2 2.2M18.4 5.6l-2.2 2.2M7.8 16.2l-2.2 2.2",
  composite: "M4 4h6v6H4zM14 4h6v6h-6zM9 14h6v6H9zM7 10v2h10v-2M12 12v2",
  manual:
    "M9 11V5.5a1.5 1.5 0 0 1 3 0V11m0-1V4.5a1.5 1.5 0 0 1 3 0V11m0-3.5a1.5 1.5 0 0 1 3 0V14a7 7 0 0 1-7 7c-3 0-4.5-1.5-6-4l-2-4a1.5 1.5 0 0 1 2.6-1.5L9 14V7.5a1.5 1.5 0 0 0-3 0",
  statuspage: "M4 4h16v16H4zM4 9h16M8 16v-3M12 16v-4M16 16v-2",
  browser: "M3 5h18v14H3zM3 9h18M6 7h.01M8.5 7h.01",
};

export const markOf = (type: MonitorType): string => marks[type] ?? common;
