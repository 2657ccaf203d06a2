/** Registers the provider of each type of channels and contact methods. */
import type { ReceiverType } from "./channels/kinds-schema.ts";
import type { Provider } from "./provider.ts";
import { apprise } from "./providers/apprise.ts";
import { discord } from "./providers/discord.ts";
import { email } from "./providers/email.ts";
import { googlechat } from "./providers/googlechat.ts";
import { gotify } from "./providers/gotify.ts";
import { mattermost } from "./providers/mattermost.ts";
import { ntfy } from "./providers/ntfy.ts";
import { jsm, opsgenie } from "./providers/opsgenie.ts";
import { pagerduty } from "./providers/pagerduty.ts";
import { pushover } from "./providers/pushover.ts";
import { sms } from "./providers/sms.ts";
import { slack } from "./providers/slack.ts";
import { teams } from "./providers/teams.ts";
import { telegram } from "./providers/telegram.ts";
import { voice } from "./providers/voice.ts";
import { webhook } from "./providers/webhook.ts";
import { webpush } from "./providers/webpush.ts";
import { matrix } from "./providers/matrix.ts";
import { signal } from "./providers/signal.ts";
import { rocketchat } from "./providers/rocketchat.ts";
import { zulip } from "./providers/zulip.ts";
import { nextcloudtalk } from "./providers/nextcloudtalk.ts";
import { webex } from "./providers/webex.ts";
import { line } from "./providers/line.ts";
import { feishu } from "./providers/feishu.ts";
import { dingtalk } from "./providers/dingtalk.ts";
import { wecom } from "./providers/wecom.ts";
import { sendgrid } from "./providers/sendgrid.ts";
import { brevo } from "./providers/brevo.ts";
import { resend } from "./providers/resend.ts";
import { mailgun } from "./providers/mailgun.ts";
import { pushbullet } from "./providers/pushbullet.ts";
import { homeassistant } from "./providers/homeassistant.ts";
import { signl4 } from "./providers/signl4.ts";
import { splunkoncall } from "./providers/splunkoncall.ts";
import { incidentio } from "./providers/incidentio.ts";
import { alertmanager } from "./providers/alertmanager.ts";
import { mqtt } from "./providers/mqtt.ts";
import { syslog } from "./providers/syslog.ts";
import { sns } from "./providers/sns.ts";
import { github } from "./providers/github.ts";
import { gitlab } from "./providers/gitlab.ts";
import { gitea } from "./providers/gitea.ts";

export const providers: { [T in ReceiverType]: Provider<T> } = {
  webhook,
  email,
  mailgun,
  resend,
  brevo,
  sendgrid,
  slack,
  discord,
  teams,
  mattermost,
  googlechat,
  telegram,
  matrix,
  signal,
  rocketchat,
  zulip,
  nextcloudtalk,
  webex,
  line,
  feishu,
  dingtalk,
  wecom,
  ntfy,
  gotify,
  pushover,
  homeassistant,
  pushbullet,
  sms,
  voice,
  pagerduty,
  jsm,
  opsgenie,
  alertmanager,
  github,
  gitlab,
  gitea,
  incidentio,
  splunkoncall,
  signl4,
  apprise,
  sns,
  mqtt,
  syslog,
  webpush,
};
