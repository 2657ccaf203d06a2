/** The request of each SMS preset, and what its responses mean, as the vendors document them. */
import type { SmsPreset } from "../channels/gateway-rules.ts";
import type { Gateway } from "./gateway.ts";

const basicAuthentication = { Authorization: "Basic {{basic}}" };

/** Errors of seven.io, for messages and calls: https://docs.seven.io/en/rest-api/endpoints/sms. */
export const sevenIoRejections = {
  201: "sender",
  202: "number",
  301: "number",
  500: "credit",
  900: "credentials",
  901: "sender",
  902: "credentials",
  903: "credentials",
} as const satisfies Gateway["rejections"];

export const smsGateways: Readonly<Record<SmsPreset, Gateway>> = {
  // https://www.twilio.com/docs/messaging/api/message-resource#create-a-message-resource
  // https://www.twilio.com/docs/api/errors/21211, /21606, /21614, /20003
  twilio: {
    method: "POST",
    path: "/2010-04-01/Accounts/{{account}}/Messages.json",
    headers: basicAuthentication,
    bodyType: "form",
    body: "To={{to}}&From={{from}}&Body={{text}}",
    code: "$.code",
    rejections: {
      20003: "credentials",
      20429: "busy",
      21211: "number",
      21606: "sender",
      21614: "number",
    },
    // https://www.twilio.com/docs/messaging/api/message-resource#fetch-a-message-resource
    receipt: {
      id: "$.sid",
      path: "/2010-04-01/Accounts/{{account}}/Messages/{{receipt}}.json",
      state: "$.status",
      endings: {
        delivered: "delivered",
        read: "delivered",
        undelivered: "undelivered",
        failed: "failed",
        canceled: "failed",
      },
      code: "$.error_code",
    },
  },
  // https://developer.vonage.com/en/api/sms and https://developer.vonage.com/en/api-errors/sms
  vonage: {
    method: "POST",
    path: "/sms/json",
    headers: basicAuthentication,
    bodyType: "form",
    body: "to={{toDigits}}&from={{fromDigits}}&text={{text}}&type={{encoding}}",
    encodings: ["text", "unicode"],
    code: "$.messages[0].status",
    accepted: "0",
    rejections: {
      1: "busy",
      4: "credentials",
      5: "busy",
      6: "number",
      7: "barred",
      8: "credentials",
      9: "credit",
      10: "busy",
      15: "sender",
      29: "barred",
    },
    // https://developer.vonage.com/en/reports/code-snippets/load-records-sync-id. A record has the latest state.
    receipt: {
      id: "$.messages[0]['message-id']",
      url: "https://api.nexmo.com",
      path: "/v2/reports/records?account_id={{account}}&product=SMS&direction=outbound&id={{receipt}}",
      state: "$.records[0].status",
      endings: {
        delivered: "delivered",
        expired: "expired",
        rejected: "rejected",
        failed: "failed",
        deleted: "failed",
      },
      code: "$.records[0].error_code",
    },
  },
  // https://www.plivo.com/docs/sms/api/message/send-a-message/ and https://docs.plivo.com/docs/messaging/api/response
  plivo: {
    method: "POST",
    path: "/v1/Account/{{account}}/Message/",
    headers: basicAuthentication,
    bodyType: "json",
    body: '{"src":"{{fromDigits}}","dst":"{{toDigits}}","text":"{{text}}"}',
    // https://www.plivo.com/docs/sms/api/message/retrieve-a-message/
    receipt: {
      id: "$.message_uuid[0]",
      path: "/v1/Account/{{account}}/Message/{{receipt}}/",
      state: "$.message_state",
      endings: {
        delivered: "delivered",
        undelivered: "undelivered",
        rejected: "rejected",
        failed: "failed",
      },
      code: "$.error_code",
    },
  },
  // https://developers.telnyx.com/api-reference/messages/send-a-message
  // https://support.telnyx.com/en/articles/6505121-telnyx-messaging-error-codes
  telnyx: {
    method: "POST",
    path: "/v2/messages",
    headers: { Authorization: "Bearer {{secret}}" },
    bodyType: "json",
    body: '{"from":"{{from}}","to":"{{to}}","text":"{{text}}"}',
    code: "$.errors[0].code",
    rejections: {
      10001: "number",
      10002: "number",
      10009: "credentials",
      10010: "credentials",
      10011: "busy",
      10016: "number",
    },
    // https://developers.telnyx.com/api-reference/messages/retrieve-a-message
    receipt: {
      id: "$.data.id",
      path: "/v2/messages/{{receipt}}",
      state: "$.data.to[0].status",
      endings: {
        delivered: "delivered",
        delivery_failed: "undelivered",
        sending_failed: "failed",
        expired: "expired",
      },
      code: "$.data.errors[0].code",
    },
  },
  // https://docs.seven.io/en/rest-api/endpoints/sms. Errors have status 200, and can be plain text.
  seven: {
    method: "POST",
    path: "/api/sms",
    headers: { "X-Api-Key": "{{secret}}", Accept: "application/json" },
    bodyType: "form",
    body: "to={{to}}&from={{from}}&text={{text}}",
    code: "$.success",
    accepted: "100",
    rejections: sevenIoRejections,
    // https://docs.seven.io/en/rest-api/endpoints/status-reports: “use the Query logbook with the ID of the message”
    receipt: {
      id: "$.messages[0].id",
      path: "/api/journal/outbound?id={{receipt}}",
      state: "$[0].dlr",
      endings: {
        DELIVERED: "delivered",
        NOTDELIVERED: "undelivered",
        EXPIRED: "expired",
        REJECTED: "rejected",
        FAILED: "failed",
      },
    },
  },
  // https://46elks.com/docs/send-sms
  "46elks": {
    method: "POST",
    path: "/a1/sms",
    headers: basicAuthentication,
    bodyType: "form",
    body: "from={{from}}&to={{to}}&message={{text}}",
    // https://46elks.com/docs/show-sms-id
    receipt: {
      id: "$.id",
      path: "/a1/sms/{{receipt}}",
      state: "$.status",
      endings: { delivered: "delivered", failed: "undelivered" },
    },
  },
  // https://developers.messagebird.com/api/sms-messaging/#send-outbound-sms and /api/#errors
  messagebird: {
    method: "POST",
    path: "/messages",
    headers: { Authorization: "AccessKey {{secret}}", Accept: "application/json" },
    bodyType: "json",
    body: '{"originator":"{{from}}","recipients":["{{toDigits}}"],"body":"{{text}}","datacoding":"auto"}',
    code: "$.errors[0].code",
    rejections: { 2: "credentials", 25: "credit" },
    // https://developers.messagebird.com/api/sms-messaging/#view-outbound-sms
    receipt: {
      id: "$.id",
      path: "/messages/{{receipt}}",
      state: "$.recipients.items[0].status",
      endings: { delivered: "delivered", delivery_failed: "undelivered", expired: "expired" },
      code: "$.recipients.items[0].statusErrorCode",
    },
  },
  // https://www.smseagle.eu/docs/apiv2/#tag/Send-messages
  smseagle: {
    method: "POST",
    path: "/api/v2/messages/sms",
    headers: { "access-token": "{{secret}}" },
    bodyType: "json",
    body: '{"to":["{{to}}"],"text":"{{text}}","encoding":"{{encoding}}"}',
    encodings: ["standard", "unicode"],
    code: "$[0].status",
    accepted: "queued",
    // https://www.smseagle.eu/docs/apiv2/#tag/Read-messages/operation/Messages::messages_get
    receipt: {
      id: "$[0].id",
      path: "/api/v2/messages/sent?id_from={{receipt}}&id_to={{receipt}}",
      state: "$[0].status",
      endings: {
        delivery_ok: "delivered",
        delivery_failed: "undelivered",
        sending_error: "failed",
        error: "failed",
        sending_ok_no_report: "unreported",
      },
      code: "$[0].error_code",
    },
  },
  // https://wiki.teltonika-networks.com/view/RUT955_SMS_Gateway_(legacy_WebUI): “maximum number of characters is 160”.
  // Its response has no ID, and none of its requests returns the state of a sent message.
  teltonika: {
    method: "GET",
    path: "/cgi-bin/sms_send?username={{account}}&password={{secret}}&number=00{{toDigits}}&text={{text}}",
    bodyType: "form",
    body: null,
    accepted: "OK",
    rejections: { WRONG_NUMBER: "number", TIMEOUT: "busy", ERROR: "busy" },
    maxParts: 1,
  },
  // https://docs.sms-gate.app/features/sending-messages. Priorities from 100 on skip the limits of the app.
  "sms-gate": {
    method: "POST",
    path: "/messages",
    headers: basicAuthentication,
    bodyType: "json",
    body: '{"textMessage":{"text":"{{text}}"},"phoneNumbers":["{{to}}"],"priority":100}',
    // https://docs.sms-gate.app/features/status-tracking
    receipt: {
      id: "$.id",
      path: "/messages/{{receipt}}",
      state: "$.state",
      endings: { Delivered: "delivered", Failed: "failed" },
    },
  },
};
