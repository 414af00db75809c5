"use strict";
// All content of the data is set as text, never as HTML.
const token = location.hash.slice(1);
const keys = { y: "present", n: "absent", u: "unsure", s: "skip", z: "undo" };
const paths = { undo: "/api/undo", take: "/api/take" }; // requests that are not annotations
const kinds = { present: "Label that is present", absent: "Label that is absent", missing: "Missing label", unlabeled: "Sample to label next", random: "Random sample" };
const $ = (id) => document.getElementById(id);
const percent = (p) => (p > 0 && p < 0.005 ? "< 1 %" : p > 0.995 && p < 1 ? "> 99 %" : `${Math.round(100 * p)} %`);
const images = new Map(); // sample: promise of the address of its image
let entries = [];
let busy = true;

function element(tag, text, className) {
  const made = document.createElement(tag);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

async function request(path, body) {
  const options = { headers: { "X-Review-Token": token } };
  if (body) {
    options.method = "POST";
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  const response = await fetch(path, options);
  if (!response.ok) throw new Error((await response.json()).error);
  return response;
}

function loadImage(sample) {
  if (!images.has(sample)) {
    if (images.size > 40) {
      const [oldest, address] = images.entries().next().value;
      images.delete(oldest);
      address.then(URL.revokeObjectURL, () => {});
    }
    const address = request(`/api/image/${sample}`).then((r) => r.blob()).then(URL.createObjectURL);
    address.catch(() => images.delete(sample));
    images.set(sample, address);
  }
  return images.get(sample);
}

function showProgress(progress) {
  const done = progress.decided + (progress.decided === 1 ? " annotation" : " annotations");
  $("bar").max = Math.max(progress.entries, 1);
  $("bar").value = progress.decided;
  $("progress").replaceChildren(
    element("li", `${done} of ${progress.entries} entries`),
    element("li", `${progress.corrected} corrected`),
  );
}

function showFacts(entry) {
  const facts = [["In the file", entry.given], ["Probability that it is present", percent(entry.probability)]];
  const answers = Object.entries(entry.answers);
  if (answers.length) facts.push(["Reviewers disagree", answers.map(([name, answer]) => `${name}: ${answer}`).join(", ")]);
  $("facts").replaceChildren(...facts.map(([name, value]) => {
    const pair = document.createElement("div");
    pair.append(element("dt", name), element("dd", value));
    return pair;
  }));
}

function showSample(entry) {
  $("sample-title").textContent = `Sample ${entry.sample_name}`;
  $("texts").replaceChildren(...entry.view.texts.flatMap(([name, text]) => [
    element("h4", name), element("p", text, text.includes(" ") ? "text" : ""),
  ]));
  const rows = entry.view.fields.map(([name, value]) => {
    const row = document.createElement("tr");
    row.append(element("th", name), element("td", value));
    return row;
  });
  $("fields").firstElementChild.tBodies[0].replaceChildren(...rows);
  $("fields").hidden = rows.length === 0;
  const left = entry.view.n_fields - rows.length;
  $("more").textContent = left > 0 ? `${left} more features are not shown.` : "";
  $("image").hidden = true;
  showImageError(entry.view.image_error);
  if (entry.view.image) loadImage(entry.sample).then((address) => {
    if (entries[0] === entry) Object.assign($("image"), { src: address, hidden: false });
  }, (error) => {
    if (entries[0] === entry) showImageError(error.message);
  });
}

function showImageError(text) {
  $("image-error").textContent = text;
  $("image-error").hidden = !text;
}

function showEvidence(entry) {
  const largest = Math.max(...entry.influences.map(([, , influence]) => Math.abs(influence)), 1e-12);
  $("influence-title").hidden = entry.influences.length === 0;
  $("influences").tBodies[0].replaceChildren(...entry.influences.map(([feature, value, influence]) => {
    const row = document.createElement("tr");
    const bar = element("span", "", influence > 0 ? "bar for" : "bar against");
    bar.style.width = `${(5 * Math.abs(influence)) / largest}rem`;
    const cell = document.createElement("td");
    cell.append(bar, influence > 0 ? "for" : "against");
    row.append(element("th", feature), element("td", String(Number(value.toPrecision(3)))), cell);
    return row;
  }));
  const features = [
    ["Top features for the label in all samples", entry.raising],
    ["Top features against it", entry.lowering],
  ].filter(([, names]) => names.length);
  $("label-features").replaceChildren(
    ...features.flatMap(([title, names]) => [element("dt", title), element("dd", names.join(", "))]),
  );
}

function show(state) {
  entries = state.entries;
  document.title = `Review of ${state.title}`;
  $("title").textContent = `Review of ${state.title}`;
  $("reviewer").textContent = `Reviewer: ${state.reviewer}`;
  showProgress(state.progress);
  const [entry, following] = entries;
  $("entry").hidden = !entry;
  $("take").hidden = state.waiting_for.length === 0;
  message(entry ? "" : state.waiting_for.length
    ? `The remaining entries are shown to ${state.waiting_for.join(", ")}. Reload the page later, or show them here, too.`
    : state.progress.entries
      ? "All entries are decided. Press Ctrl-C in the terminal, and run spmld correct."
      : "There is nothing to review.");
  if (!entry) return;
  $("kind").textContent = kinds[entry.kind];
  $("kind").className = entry.kind;
  $("question").replaceChildren("Does this sample have the label ", element("strong", entry.label), "?");
  showFacts(entry);
  showSample(entry);
  showEvidence(entry);
  scrollTo(0, 0);
  if (following && following.view.image) loadImage(following.sample);
}

function message(text) {
  $("message").textContent = text;
  $("message").hidden = !text;
}

async function act(answer) {
  if (busy || (!(answer in paths) && !entries.length)) return;
  busy = true;
  document.body.setAttribute("aria-busy", "true");
  try {
    // The reply comes after the annotation is on disk, and only then the next entry is shown.
    const reply = answer in paths
      ? await request(paths[answer], {})
      : await request("/api/annotation", { entry: entries[0].entry, answer });
    show(await reply.json());
  } catch (error) {
    message(error instanceof TypeError
      ? "The server does not respond, and the last annotation may not be stored. Start spmld review again, which " +
        "continues with this entry."
      : error.message);
  }
  busy = false;
  document.body.removeAttribute("aria-busy");
}

addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.altKey || event.metaKey) return;
  const answer = keys[event.key.toLowerCase()];
  if (!answer) return;
  event.preventDefault();
  act(answer);
});
for (const button of document.querySelectorAll("[data-answer]")) {
  button.addEventListener("click", () => act(button.dataset.answer));
}
$("image").addEventListener("error", () => {
  $("image").hidden = true;
  showImageError("the image is damaged, or its content is not that of its file extension");
});
$("take").addEventListener("click", () => act("take"));
request("/api/entries").then((reply) => reply.json()).then(show).catch((error) => message(error.message))
  .finally(() => { busy = false; });
