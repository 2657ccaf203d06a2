import { channelFamilies, type ReceiverType } from "../../../src/alerting/channels/kinds-schema.ts";

const webhook =
  "M9 16.5a3.5 3.5 0 1 1-3.8-3.5M12 4.5a3.5 3.5 0 0 0-2 6.4L7.2 16M12 4.5a3.5 3.5 0 0 1 3.4 4.3M13 8l3.2 5.4a3.6 3.6 0 1 1-2.6 5.8M10.5 16.8H16";

/** Icon paths in a 24 × 24 box, drawn with a single stroke. Other types share the icon of their family. */
const marks: Partial<Record<ReceiverType, string>> = {
  webhook,
  email: "M3 6h18v12H3zM3.5 6.5 12 13l8.5-6.5",
  slack:
    "M9.5 3.5v10M14.5 10.5v10M3.5 14.5h10M10.5 9.5h10M9.5 17v1.5a2 2 0 1 1-2-2M14.5 7V5.5a2 2 0 1 1 2 2M7 9.5H5.5a2 2 0 1 1 2-2M17 14.5h1.5a2 2 0 1 1-2 2",
  discord:
    "M8 6.5c-1.6.3-3 .9-3.8 1.6C3 11 2.7 14 3 17c1.2 1 2.8 1.7 4.5 2l1-2M16 6.5c1.6.3 3 .9 3.8 1.6 1.2 2.9 1.5 5.9 1.2 8.9-1.2 1-2.8 1.7-4.5 2l-1-2M8 6.5c2.6-.7 5.4-.7 8 0M7 16.5c3.2 1.2 6.8 1.2 10 0M9 12.5h.01M15 12.5h.01",
  teams:
    "M3 7h10v10H3zM6 10h4M8 10v4.5M17.5 4.5a2 2 0 1 0 0 4 2 2 0 0 0 0-4M16 11h5v4a3.5 3.5 0 0 1-5 3.2",
  mattermost: "M13 3.5a8.5 8.5 0 1 0 6.5 4M15.5 3c.8 2.5 1 4.5.8 6.5a4.3 4.3 0 1 1-7.8-3.3L15.5 3",
  googlechat: "M4 4.5h16v12H12l-4.5 4v-4H4zM8 8.5h8M8 12.5h5",
  telegram: "m3 11.5 17.5-7-3 15.5-6-4.5-2.5 3.5-1-5.5 8.5-6",
  ntfy: "M4 4.5h16v12H10l-5 4zM8 8.5l3 2.2L8 13M12.5 13H16",
  gotify:
    "M12 4a6 6 0 0 0-6 6v5l-2 2.5h16L18 15v-5a6 6 0 0 0-6-6M12 4V2.5M10 20.5h4M10.5 9.5a2 2 0 1 0 3 0",
  pushover:
    "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M10 17l2-10c3.5-.5 4.8 1.2 4 3-.7 1.7-2.5 2.7-5 2.5",
  sms: "M7 2.5h10v19H7zM10.5 18.5h3M9.5 6.5h5M9.5 9.5h5M9.5 12.5h3",
  voice:
    "M5 4h4l1.5 5-2.3 1.6a12 12 0 0 0 5.2 5.2L15 13.5l5 1.5v4a1.5 1.5 0 0 1-1.6 1.5A15.5 15.5 0 0 1 3.5 5.6 1.5 1.5 0 0 1 5 4M15 4a5 5 0 0 1 5 5M15 7.5A1.5 1.5 0 0 1 16.5 9",
  pagerduty: "M7 21v-3.5M7 14.5V4h5a5.2 5.2 0 0 1 0 10.5z",
  jsm: "M12 3a4 4 0 0 0-4 4v1H4.5v12h15V8H16V7a4 4 0 0 0-4-4M8 8h8M12 11.5v3M12 17h.01",
  opsgenie:
    "M12 3a4 4 0 1 0 0 8 4 4 0 0 0 0-8M5 14c4.5 2 9.5 2 14 0-1.5 3.5-4 6-7 7-3-1-5.5-3.5-7-7",
  webpush:
    "M3 5h18v14H3zM3 9h18M6 7h.01M8.5 7h.01M12 11.5a2.5 2.5 0 0 0-2.5 2.5v1.5h5V14a2.5 2.5 0 0 0-2.5-2.5M11 17h2",
  apprise: "M4 10v4h3l8 4.5v-13L7 10zM18 9a4 4 0 0 1 0 6M8 14l1.5 6H12",
};

const familyMarks: Readonly<Record<string, string | undefined>> = {
  chat: marks.googlechat,
  phone: marks.gotify,
  mail: marks.email,
  cases: marks.jsm,
};

/** Icon of a type, or that of its family. */
export function markOf(type: string): string {
  const family = channelFamilies.find(({ types }) => types.some((one) => one === type))?.id;
  return marks[type as ReceiverType] ?? familyMarks[family ?? ""] ?? webhook;
}
