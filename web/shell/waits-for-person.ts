/** Whether the sign-in page waits for a click: after a sign-out, and on request of the person. */
export const waitsForPerson = () => new URLSearchParams(location.search).has("password");
