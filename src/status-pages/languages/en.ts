/**
 * The words of status pages in English, which define the keys of all other languages. `{name}` is a placeholder. A
 * text that depends on a number has one form per plural category of its language (CLDR).
 */
export const en = {
  // States of monitors.
  up: "Up",
  degraded: "Degraded",
  down: "Down",
  partialOutage: "Partial outage",
  majorOutage: "Major outage",
  maintenance: "Maintenance",
  pending: "Not checked yet",
  paused: "Paused",
  unknown: "Not judged",
  noData: "no data",
  notJudged: "Not judged.",
  notJudgedSince: "Not judged since {time}.",
  lastKnown: "Last known: {state}.",
  since: "since {time}",

  // The headline.
  allUp: "All systems are up",
  allDown: "All systems are down",
  namesDown: { one: "{names} is down", other: "{names} are down" },
  namesDegraded: { one: "{names} is degraded", other: "{names} are degraded" },
  systemsDown: { one: "One system is down", other: "{count} systems are down" },
  systemsDegraded: { one: "One system is degraded", other: "{count} systems are degraded" },
  more: { one: "{count} more", other: "{count} more" },
  restUp: "Everything else is up.",
  restWorks: { one: "{count} of {all} works.", other: "{count} of {all} work." },
  someAffected: "Some systems are affected",
  statusUnknown: "The current status is not known",
  systemsNotJudged: {
    one: "One system can't be judged right now",
    other: "{count} systems can't be judged right now",
  },
  monitoringTrouble: "The monitoring itself has trouble.",
  lastStateShown: "This page shows the last known state.",
  noStatus: "No status yet",
  noResults: "There are no check results to show.",
  noIncidentPosted: "No incident has been posted yet.",
  noOpenIncidents: "No open incidents.",
  openIncidents: {
    one: "One incident is being worked on.",
    other: "{count} incidents are being worked on.",
  },
  checked: "Checked {time}.",
  asOf: "As of {time}",
  copyOutdated: "This page has not been updated for more than 5 minutes. It can be out of date.",

  // Connections of other texts.
  separator: ", ",
  clauses: "{first}, {second}",
  sentences: "{first}. {second}",
  labelled: "{label}: {text}",

  // Bars and figures.
  uptime: "Uptime",
  dayUp: "{value} up",
  dayDown: "{value} down",
  dayDegraded: "{value} degraded",
  dayMaintenance: "{value} maintenance",
  legend: { one: "{days} day, today on the right", other: "{days} days, today on the right" },
  allCountUp: { one: "All {count} up", other: "All {count} up" },
  daysWithTrouble: "{name}, days with trouble: {count} of {all}",
  uptimeSince: "{name}, uptime {since}: {uptime}",
  uptimeOfDays: {
    one: "{name}, uptime of {count} day: {uptime}",
    other: "{name}, uptime of {count} days: {uptime}",
  },
  nothingShown: "Nothing is shown here yet.",
  keyDay: "day",
  keyOpen: "open incident",
  keyClose: "close",

  // Incidents.
  minor: "Minor",
  major: "Major",
  critical: "Critical",
  investigating: "Investigating",
  identified: "Identified",
  monitoring: "Monitoring",
  resolved: "Resolved",
  postmortem: "Postmortem",
  affects: "Affects {names}",
  openFor: "for {duration}",
  lasted: "lasted {duration}",
  lessThanAMinute: "less than a minute",
  published: "Published {time}",
  edited: "Edited {time}",
  latestUpdates: "Latest updates",
  earlierUpdates: { one: "{count} earlier update", other: "{count} earlier updates" },
  pastIncidents: "Past incidents",
  noPastIncidents: {
    one: "No incidents in the last {count} day.",
    other: "No incidents in the last {count} days.",
  },
  allIncidents: "All incidents",
  incidentsOfMonth: "Incidents, {month}",
  noIncidents: "No incidents.",
  months: "Months",
  earlier: "Earlier",
  later: "Later",

  // Texts that a monitor writes, and texts of updates without a message.
  aService: "A service",
  isDown: "{name} is down",
  notResponding: "{name} is not responding. We are investigating.",
  notRespondingAgain: "{name} is not responding again. We are investigating.",
  respondingWorse: "{name} is responding again, but not as well as usual. We are investigating.",
  respondingAgain: "{name} is responding again.",
  respondingAgainAfter: "{name} is responding again after {duration}.",
  noLongerMonitored: "{name} is no longer monitored.",
  defaultOpened: "Incident opened.",
  defaultInvestigating: "Investigating.",
  defaultIdentified: "Identified.",
  defaultMonitoring: "Monitoring.",
  defaultResolved: "Incident resolved.",

  // Maintenance.
  maintenanceInProgress: "Maintenance in progress",
  scheduledMaintenance: "Scheduled maintenance",
  maintenanceCompleted: "Maintenance completed",
  maintenanceIsScheduled: "Maintenance is scheduled.",
  maintenanceIsInProgress: "The maintenance is in progress.",
  maintenanceIsCompleted: "The maintenance is completed.",
  next: "Next: {time}",
  thenAt: "Then {times}",
  everyDay: "Every day",
  everyDays: { one: "Every {count} days", other: "Every {count} days" },
  everyWeek: "Every week",
  everyWeeks: { one: "Every {count} weeks", other: "Every {count} weeks" },
  everyMonth: "Every month",
  everyMonths: { one: "Every {count} months", other: "Every {count} months" },
  onWeekdays: "{often} on {days}",
  onDate: "{often} on day {date}",
  onLastDay: "{often} on the last day",
  /** Empty in languages whose ordinals depend on the weekday. Such pages list the next times instead. */
  onNthWeekday: "{often} on the {nth} {day}",
  /** The first four and the last, between vertical bars. */
  ordinals: "first|second|third|fourth|last",
  repeatsTimes: { one: "{rule}, {count} time", other: "{rule}, {count} times" },
  repeatsUntil: "{rule}, until {date}",
  repeatsAt: "{rule} {time}",

  // The frame of all pages.
  getUpdates: "Get updates",
  currentStatus: "Current status",
  timesIn: "Times in {zone}",
  calendar: "Calendar",
  languages: "Language",

  // Feeds, calendar and badges.
  feedOf: "Incidents of {title}",
  calendarOf: "{title}: maintenance",
  badgeUptime: "{name} uptime",
  badgeLatency: "{name} latency",
  badge: "badge",
  notFound: "not found",

  // Summaries in the format of Statuspage.
  v2Operational: "All Systems Operational",
  v2Maintenance: "Service Under Maintenance",
  v2Degraded: "Partially Degraded Service",
  v2Minor: "Minor Service Outage",
  v2Major: "Partial System Outage",
  v2Critical: "Major Service Outage",

  // Subscribing on the page.
  subscribeIntro: "You are notified when an incident is posted and when maintenance is scheduled.",
  byEmail: "By e-mail",
  emailAddress: "E-mail address",
  subscribe: "Subscribe",
  confirmHint: "You get an e-mail with a link to confirm. Every update has a link to unsubscribe.",
  checkInbox: "Check your inbox",
  checkInboxText:
    "If {email} is not subscribed yet, an e-mail with a link is on its way to it. Updates are sent once you have followed the link.",
  byFeed: "With a feed reader or a calendar",
  rssFeed: "RSS feed",
  atomFeed: "Atom feed",
  maintenanceCalendar: "Calendar of maintenance",
  invalidEmail: "This must be an e-mail address, such as ann@team.example.",
  tooManySignUps: "Too many sign-ups from here.",
  tooManyPeopleSignUp: "Too many people are signing up at the moment.",
  tryAgain: "Try again {when}.",

  // Links in e-mails.
  updatesFrom: "Updates from {title}",
  willBeSent: "They will be sent to {address}.",
  areSent: "They are sent to {address}.",
  confirm: "Confirm",
  unsubscribe: "Unsubscribe",
  unsubscribed: "You are unsubscribed",
  unsubscribedText: "Updates from {title} are no longer sent to {address}.",
  subscribed: "You are subscribed",
  subscribedText: "Updates from {title} are sent to {address}.",
  notNow: "Not now",
  subscribersFull: "{title} accepts no more subscribers at the moment.",
  linkExpired: "This link has expired",
  linkExpiredText: "Sign up again on the status page to get a new one.",
  notSubscribed: "You are not subscribed",
  notSubscribedText: "No updates are sent to this address.",
  manage: "Change what you get",
  whatYouGet: "What you get",
  incidents: "Incidents",
  lowestSeverity: "Lowest severity",
  maintenanceWork: "Maintenance",
  whichSystems: "About which systems",
  wholePage: "The whole page",
  onlyThese: "Only these:",
  wholeGroup: "All of {name}",
  save: "Save",
  saved: "Saved.",
  chooseSomething: "Choose at least one, or unsubscribe.",
  chooseFewer: "Choose at most {count}, or the whole page.",

  // E-mails.
  confirmTitle: "Confirm updates from {title}",
  confirmText:
    "This address was given for e-mail updates from {title}. Follow the link to confirm. If it wasn't you, do nothing: you will get no more e-mails.",
  mailTitle: "{label}: {title} – {page}",
  mailFrom: "From",
  mailUntil: "Until",
  mailSeverity: "Severity",
  mailAffects: "Affects",
  mailTime: "Time",
  openStatusPage: "Open the status page",
  whyMailed: "You asked for updates from {title}.",

  // The password form and error pages.
  enterPassword: "Enter the password",
  passwordOrigin: "You get it from the people who sent you this address.",
  password: "Password",
  open: "Open",
  wrongPassword: "The password is wrong.",
  tooManyAttempts: "Too many attempts from here.",
  tooManyPeopleOpen: "Too many people are opening pages at the moment.",
  signInToSee: "Sign in to see this page",
  forAccounts: "It is for people with an account.",
  signIn: "Sign in",
  signInAgain: "Sign in again",
  closedNetwork: "This page is not open to your network",
  closedNetworkText:
    "Your address is {address}. Use the network of the organization, such as its VPN, and the address of the page that you got from it.",
  onlyOwnMailbox:
    "This page is only for signed-in people: use the address of your account, {address}.",
  continueWith: "Continue with {name}",
  noAccountAddress: "Your account has no address to which updates can be sent.",
  nothingHere: "Nothing here",
  nothingHereText:
    "There is no public page at this address. It can have moved, or the link is incomplete. Ask the sender for the current link.",
  tooManyRequests: "Too many requests",
} as const;

/** Forms of a text by plural category. `other` serves categories without a form. */
export type PluralForms = { other: string } & Partial<Record<Intl.LDMLPluralRule, string>>;

/** The words of a language: exactly the keys of English. */
export type Dictionary = {
  readonly [Key in keyof typeof en]: (typeof en)[Key] extends string ? string : PluralForms;
};
