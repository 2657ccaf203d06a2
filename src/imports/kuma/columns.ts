/** Lists the columns and settings of Uptime Kuma without an equivalent here, for the report. */
import { createLookup } from "../../core/collections/objects.ts";
import type { Fields } from "../../core/collections/objects.ts";
import type { KumaSource, TableName } from "./source.ts";

type LostColumn = {
  /** Explanation of the difference. */
  explanation?: string;
  /** Values without a visible effect; defaults to empty values and 0. */
  defaults?: readonly string[];
};
type Columns = { imported: string; internal?: string; lost?: Readonly<Record<string, LostColumn>> };

/**
 * Columns by table. Each is imported, internal to Uptime Kuma, or lost. The report mentions lost and
 * unknown columns that have a value.
 */
const catalog: Partial<Record<TableName, Columns>> = {
  monitor: {
    imported: `id name description active interval url type weight hostname port keyword maxretries ignore_tls
      upside_down maxredirects accepted_statuscodes_json dns_resolve_type dns_resolve_server retry_interval
      push_token method body headers basic_auth_user basic_auth_pass docker_host docker_container proxy_id
      expiry_notification mqtt_topic mqtt_success_message mqtt_username mqtt_password
      database_connection_string database_query auth_method grpc_url grpc_protobuf grpc_body grpc_metadata
      grpc_method grpc_enable_tls radius_username radius_password radius_calling_station_id
      radius_called_station_id radius_secret resend_interval packet_size game http_body_encoding tls_ca
      tls_cert tls_key parent invert_keyword json_path expected_value oauth_client_id oauth_client_secret
      oauth_token_url oauth_scopes oauth_auth_method timeout gamedig_given_port_only mqtt_check_type snmp_oid
      snmp_version json_path_operator cache_bust conditions rabbitmq_nodes rabbitmq_username
      rabbitmq_password smtp_security ws_ignore_sec_websocket_accept_header ws_subprotocol ping_count
      ip_family manual_status oauth_audience subtype location protocol snmp_v3_username expected_tls_alert
      retry_only_on_status_code_failure ntp_stratum_threshold ntp_time_offset_threshold
      ntp_root_dispersion_threshold bearer_token kafka_producer_brokers kafka_producer_sasl_options
      kafka_producer_ssl kafka_producer_topic remote_browser system_service_name`,
    internal: `user_id created_date dns_last_result save_error_response response_max_length path_name
      children_i_ds force_inactive tags notification_i_d_list maintenance screenshot include_sensitive_data`,
    lost: {
      auth_domain: {},
      auth_workstation: {},
      domain_expiry_notification: { explanation: "add a monitor of the type domain" },
      gamedig_token: {},
      grpc_service_name: { defaults: ["Health"] },
      kafka_producer_allow_auto_topic_creation: {},
      kafka_producer_message: {},
      mqtt_websocket_path: {},
      ping_numeric: { defaults: ["1"] },
      ping_per_request_timeout: { defaults: ["2"] },
      save_response: { explanation: "responses are not stored here" },
      screenshot_delay: {},
    },
  },
  notification: { imported: "id name active is_default config", internal: "user_id" },
  status_page: {
    imported: `id slug title description icon theme published show_tags password footer_text custom_css
      google_analytics_tag_id show_certificate_expiry analytics_id rss_title`,
    internal: "created_date modified_date analytics_type",
    lost: {
      analytics_script_url: {},
      auto_refresh_interval: { defaults: ["300"], explanation: "pages refresh automatically here" },
      search_engine_index: {
        defaults: ["1"],
        explanation: "search engines can index the page here",
      },
      show_only_last_heartbeat: {},
      show_powered_by: { defaults: ["1"] },
    },
  },
  group: {
    imported: "id name public weight status_page_id",
    internal: "created_date",
    lost: { active: { defaults: ["1"] } },
  },
  monitor_group: {
    imported: "id monitor_id group_id weight send_url",
    lost: { custom_url: { explanation: "monitors on a page have no link of their own" } },
  },
  incident: {
    imported: `id title content style created_date last_updated_date pin active`,
    internal: "status_page_id user_id",
  },
  maintenance: {
    imported: `id title description active strategy start_date end_date start_time end_time weekdays
      days_of_month interval_day cron timezone duration`,
    internal: "user_id last_start_date",
  },
  proxy: {
    imported: "id protocol host port auth username password active",
    internal: "user_id created_date",
    lost: { default: { explanation: "new monitors have no proxy unless you enter one" } },
  },
  docker_host: { imported: "id docker_daemon docker_type name", internal: "user_id" },
};

const splitNames = (list = "") => list.split(/\s+/);
const knownColumns = new Map(
  Object.entries(catalog).map(([table, { imported, internal, lost = {} }]) => [
    table,
    { silent: new Set([...splitNames(imported), ...splitNames(internal)]), lost },
  ]),
);

export type NoteLost = (table: TableName, row: Fields) => string[];

/** Reports columns with a value that have no equivalent here. */
export function listLostNotes(
  table: TableName,
  row: Fields,
  defaults: KumaSource["defaults"] = {},
): string[] {
  const columns = knownColumns.get(table);
  if (columns === undefined) return [];
  const lost = Object.entries(row).flatMap(([column, value]) => {
    if (columns.silent.has(column)) return [];
    const { explanation, defaults: defaultValues } = columns.lost[column] ?? {
      defaults: [defaults[table]?.[column] ?? "0"],
    };
    if (!isSet(value, defaultValues)) return [];
    return [explanation === undefined ? column : `${column} (${explanation})`];
  });
  return lost.length === 0 ? [] : [`Not imported: ${lost.join(", ")}.`];
}

function isSet(value: unknown, defaultValues: readonly string[] = ["0"]): boolean {
  if (value === null || value === undefined || value === "") return false;
  const comparable = typeof value === "boolean" ? Number(value) : value;
  const words = typeof comparable === "string" ? comparable : JSON.stringify(comparable);
  return ![...defaultValues, "[]", "{}"].includes(words);
}

/** Settings that are imported or mentioned in another hint. */
const usedSettings = new Set([
  "serverTimezone",
  "primaryBaseURL",
  "keepDataPeriodDays",
  "entryPage",
]);
/** Internal settings of Uptime Kuma. */
const internalSettings = new Set([
  "database_version",
  "databasePatchedFiles",
  "initServerTimezone",
  "migrateAggregateTableState",
]);
const settingWords: Readonly<Record<string, string>> = createLookup({
  searchEngineIndex: "search engines can index status pages here",
  tlsExpiryNotifyDays: "each monitor has certificateExpiryDays here, 14 after an import",
  domainExpiryNotifyDays: "monitors of the type domain have minDays here",
  trustProxy: "serve --trust-proxy here",
});

/** Returns one hint that lists all settings without an equivalent. It never contains their values. */
export function buildSettingsHint(keys: Iterable<string>): string[] {
  const lost = [...keys]
    .filter((key) => !usedSettings.has(key) && !internalSettings.has(key))
    .map((key) => (settingWords[key] === undefined ? key : `${key} (${settingWords[key]})`));
  return lost.length === 0 ? [] : [`Settings that were not imported: ${lost.join(", ")}.`];
}
