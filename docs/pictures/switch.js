// A <picture> follows the system's theme; on this site it is to follow the site's own switch.
// Elsewhere, and without scripts, the system's theme decides.
const dark = document.querySelectorAll('picture source[srcset$="-dark.svg"]');

function follow() {
  const isDark = document.body.dataset.mdColorScheme === "slate";
  for (const source of dark) source.media = isDark ? "all" : "not all";
}

new MutationObserver(follow).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
follow();
