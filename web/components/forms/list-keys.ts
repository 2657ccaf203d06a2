/**
 * Enter in a field with a list never submits its form: it selects the active option, or opens the
 * list. Handles the key after Mantine, for every such field of every form. With Ctrl or ⌘, Enter
 * submits on purpose.
 */
function handleEnter(event: KeyboardEvent) {
  if (event.key !== "Enter" || event.ctrlKey || event.metaKey || event.defaultPrevented) return;
  const { target } = event;
  if (!(target instanceof HTMLInputElement) || target.form === null) return;
  if (target.getAttribute("aria-haspopup") !== "listbox") return;
  event.preventDefault();
  if (target.getAttribute("aria-expanded") !== "true") target.click();
}
window.addEventListener("keydown", handleEnter);
