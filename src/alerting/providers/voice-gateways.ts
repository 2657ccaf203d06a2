/** How each voice preset makes a call and reports its end, as the vendors document it. */
import type { VoicePreset } from "../channels/gateway-rules.ts";
import type { Call, Gateway } from "./gateway.ts";
import { sevenIoRejections } from "./sms-gateways.ts";

const basicAuthentication = { Authorization: "Basic {{basic}}" };

/** Seconds for which the phone rings. */
const ringSeconds = 40;

/** https://www.twilio.com/docs/voice/twiml/gather and /say */
function writeTwiml({ text, language, keyUrl }: Call): string {
  const speech = `<Say language="${language}">${Bun.escapeHTML(text)}</Say>`;
  const twice = `${speech}<Pause length="1"/>${speech}`;
  const content =
    keyUrl === null
      ? twice
      : `<Gather action="${Bun.escapeHTML(keyUrl)}" numDigits="1" timeout="10">${twice}</Gather>`;
  return `<Response>${content}</Response>`;
}

/** https://developer.vonage.com/en/voice/voice-api/ncco-reference */
function writeNcco({ text, language, keyUrl }: Call): string {
  const talk = { action: "talk", text, language, loop: 2 };
  if (keyUrl === null) return JSON.stringify([talk]);
  const input = {
    action: "input",
    type: ["dtmf"],
    dtmf: { maxDigits: 1, timeOut: 10 },
    eventUrl: [keyUrl],
  };
  return JSON.stringify([{ ...talk, bargeIn: true }, input]);
}

/** https://46elks.com/docs/voice-ivr and https://46elks.com/docs/voice-play */
const writeIvr = ({ text, keyUrl }: Call): string =>
  JSON.stringify({
    ivr: `en_US/${text}`,
    digits: 1,
    repeat: 2,
    timeout: keyUrl === null ? 1 : 10,
    ...(keyUrl !== null && { next: keyUrl }),
  });

/** https://plivo.com/docs/voice/xml/getinput and /speak */
function writePlivoXml({ text, language, keyUrl }: Call): string {
  const speak = `<Speak language="${language}" loop="2">${Bun.escapeHTML(text)}</Speak>`;
  const content =
    keyUrl === null
      ? speak
      : `<GetInput action="${Bun.escapeHTML(keyUrl)}" inputType="dtmf" numDigits="1" executionTimeout="10">${speak}</GetInput>`;
  return `<Response>${content}</Response>`;
}

export const voiceGateways: Readonly<Record<VoicePreset, Gateway>> = {
  // https://www.twilio.com/docs/voice/api/call-resource#create-a-call-resource
  // https://www.twilio.com/docs/api/errors/21211, /21214, /21215, /21216, /21210, /21212, /20003
  twilio: {
    method: "POST",
    path: "/2010-04-01/Accounts/{{account}}/Calls.json",
    headers: basicAuthentication,
    bodyType: "form",
    body: `To={{to}}&From={{from}}&Timeout=${ringSeconds}&Twiml={{script}}`,
    code: "$.code",
    rejections: {
      20003: "credentials",
      20429: "busy",
      21210: "sender",
      21211: "number",
      21212: "sender",
      21214: "number",
      21215: "barred",
      21216: "barred",
    },
    call: { script: writeTwiml, scriptType: "text/xml" },
    receipt: {
      id: "$.sid",
      path: "/2010-04-01/Accounts/{{account}}/Calls/{{receipt}}.json",
      state: "$.status",
      endings: {
        completed: "answered",
        busy: "busy",
        "no-answer": "unanswered",
        canceled: "call-failed",
        failed: "call-failed",
      },
    },
  },
  // https://developer.vonage.com/en/api/voice#createCall and #getCall
  vonage: {
    method: "POST",
    path: "/v1/calls",
    headers: { Authorization: "Bearer {{token}}" },
    bodyType: "json",
    body: `{"to":[{"type":"phone","number":"{{toDigits}}"}],"from":{"type":"phone","number":"{{fromDigits}}"},"ringing_timer":${ringSeconds},"ncco":{{script}}}`,
    call: { script: writeNcco, scriptType: "application/json", signsToken: true },
    receipt: {
      id: "$.uuid",
      path: "/v1/calls/{{receipt}}",
      state: "$.status",
      endings: {
        completed: "answered",
        busy: "busy",
        unanswered: "unanswered",
        timeout: "unanswered",
        rejected: "declined",
        cancelled: "call-failed",
        failed: "call-failed",
      },
    },
  },
  // https://docs.plivo.com/docs/voice/api/call/make-a-call, /voice/api/calls and /voice/troubleshooting/hangup-causes.
  // Plivo's own clients look a call up by the ID of its request, and list the codes 3000–3020 and 6010.
  plivo: {
    method: "POST",
    path: "/v1/Account/{{account}}/Call/",
    headers: basicAuthentication,
    bodyType: "json",
    body: `{"from":"{{fromDigits}}","to":"{{toDigits}}","answer_url":"{{scriptUrl}}","answer_method":"GET","hangup_method":"GET","hangup_on_ring":${ringSeconds}}`,
    call: { script: writePlivoXml, scriptType: "text/xml", isFetched: true },
    receipt: {
      id: "$.request_uuid",
      path: "/v1/Account/{{account}}/Call/{{receipt}}/",
      state: "$.hangup_cause_code",
      endings: {
        4000: "answered",
        4010: "answered",
        3000: "unanswered",
        3010: "busy",
        3020: "declined",
        6010: "unanswered",
        1000: "call-failed",
        1010: "call-failed",
        1020: "call-failed",
        2000: "call-failed",
        2010: "call-failed",
        2030: "call-failed",
        2040: "call-failed",
        7011: "call-failed",
        8011: "call-failed",
      },
      code: "$.hangup_cause_code",
    },
  },
  // https://docs.seven.io/en/rest-api/endpoints/voice. It documents no state of a call, and keys only for webhooks.
  seven: {
    method: "POST",
    path: "/api/voice",
    headers: { "X-Api-Key": "{{secret}}", Accept: "application/json" },
    bodyType: "form",
    body: `to={{to}}&from={{from}}&ringtime=${ringSeconds}&text={{script}}`,
    code: "$.success",
    accepted: "100",
    rejections: sevenIoRejections,
    call: { script: ({ text }) => `${text} ${text}` },
  },
  // https://46elks.com/docs/make-call and https://46elks.com/docs/show-call-id
  "46elks": {
    method: "POST",
    path: "/a1/calls",
    headers: basicAuthentication,
    bodyType: "form",
    body: `from={{from}}&to={{to}}&timeout=${ringSeconds}&voice_start={{script}}`,
    call: { script: writeIvr, scriptType: "application/json", maxLength: 180 },
    receipt: {
      id: "$.id",
      path: "/a1/calls/{{receipt}}",
      state: "$.state",
      endings: { success: "answered", busy: "busy", failed: "unanswered" },
    },
  },
};
