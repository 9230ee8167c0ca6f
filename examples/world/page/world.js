/** Draws the world as it is audited: all entities as of one moment, four times a second, and moves them in between. */

const [WIDTH, HEIGHT, REGION] = [24, 8, 4];
const AUDIT_MS = 250;
const HOSTS_MS = 1000;
const TOKEN = "headwater.token"; // where the dashboard, at the same address, keeps it

const canvas = document.getElementById("grid");
const paper = canvas.getContext("2d");
const cell = canvas.width / WIDTH;
const audit = { entities: new Map(), before: new Map(), atMs: 0, count: 0, violations: 0 };
let hostOfRegion = new Map();
/** The box of each host: it stays, so that a button keeps the focus while figures change. */
const boxes = new Map();
let isReached = false;

/** The code in the address that `headwater dev` prints becomes the token, once. */
async function signIn() {
  const code = /[#&]code=([\w-]+)/.exec(location.hash)?.[1];
  if (code === undefined) return;
  history.replaceState(null, "", location.pathname);
  const answer = await send("/headwater/admin/login", { code });
  sessionStorage.setItem(TOKEN, answer.token);
}

async function send(path, body) {
  const token = sessionStorage.getItem(TOKEN);
  const response = await fetch(path, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      "content-type": "application/json",
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return await response.json();
}

/** The same as in the dashboard. */
function colourOf(host) {
  return `hsl(${Math.round((210 + host * 137.5) % 360)} 60% 50%)`;
}

/** What a screen reader is told: changes, and no figures that change four times a second. */
function tell(news) {
  const box = document.getElementById("news");
  if (box.textContent !== news) box.textContent = news;
}

async function look() {
  const status = document.getElementById("audit");
  try {
    const { value: found } = await send("/api/audit", []);
    audit.before = audit.entities;
    audit.entities = new Map(found.map((entity) => [entity.id, entity]));
    audit.atMs = performance.now();
    audit.count += 1;
    if (audit.entities.size !== found.length) audit.violations += 1;
    status.className = audit.violations > 0 ? "wrong" : "";
    status.textContent = `${found.length} entities, each in exactly one cell: audited ${audit.count} times, ${audit.violations} violations`;
    if (audit.violations > 0) tell("An entity was in two cells.");
    else if (!isReached) tell("");
    isReached = true;
  } catch {
    if (isReached || audit.count === 0) tell("The program is starting, or cannot be reached. Trying again…");
    isReached = false;
  }
  setTimeout(look, AUDIT_MS);
}

async function lookAtHosts() {
  const box = document.getElementById("hosts");
  try {
    const { hosts } = await send("/headwater/admin/hosts");
    const { contexts } = await send("/headwater/admin/children?address=World&field=regions");
    hostOfRegion = new Map(contexts.map(({ address, host }) => [/\((.*)\)/.exec(address)?.[1] ?? "", host]));
    if (boxes.size === 0) box.replaceChildren();
    for (const [id, { element }] of boxes)
      if (!hosts?.some((host) => host.id === id)) {
        element.remove();
        boxes.delete(id);
      }
    for (const host of hosts ?? []) showHost(box, host);
  } catch {
    if (boxes.size === 0)
      box.textContent =
        "Open this page with the address that the terminal has printed to see and kill hosts.";
  }
  setTimeout(lookAtHosts, HOSTS_MS);
}

function showHost(box, { id, state, contexts, restarts, load }) {
  let known = boxes.get(id);
  if (known === undefined) {
    known = hostBox(id);
    boxes.set(id, known);
    box.append(known.element);
  }
  const replaced = restarts === 1 ? "once" : `${restarts} times`;
  known.text.textContent = `${state}, ${contexts} contexts, ${Math.round(load?.eventsPerSecond ?? 0)} events/s, replaced ${replaced}`;
  if (known.restarts !== undefined && restarts > known.restarts) tell(`Host ${id} was lost and is replaced.`);
  known.restarts = restarts;
}

function hostBox(id) {
  const element = document.createElement("div");
  const name = document.createElement("b");
  name.textContent = `Host ${id}`;
  name.style.setProperty("--host", colourOf(id));
  const kill = document.createElement("button");
  kill.type = "button";
  kill.textContent = "Kill";
  kill.setAttribute("aria-label", `Kill host ${id}`);
  kill.addEventListener("click", () => {
    tell(`Host ${id} is killed.`);
    send("/headwater/admin/hosts/kill", { host: id }).catch(({ message }) => tell(message));
  });
  const text = document.createElement("span");
  element.append(name, kill, text);
  return { element, text };
}

const isStill = matchMedia("(prefers-reduced-motion: reduce)");

function draw() {
  paper.clearRect(0, 0, canvas.width, canvas.height);
  for (let column = 0; column < WIDTH / REGION; column++)
    for (let row = 0; row < HEIGHT / REGION; row++) {
      const host = hostOfRegion.get(`${column}, ${row}`);
      paper.globalAlpha = 0.15;
      paper.fillStyle = host === undefined || host === null ? "gray" : colourOf(host);
      paper.fillRect(
        column * REGION * cell + 1,
        row * REGION * cell + 1,
        REGION * cell - 2,
        REGION * cell - 2,
      );
    }
  paper.globalAlpha = 0.2;
  paper.strokeStyle = "gray";
  for (let x = 1; x < WIDTH; x++) line(x * cell, 0, x * cell, canvas.height);
  for (let y = 1; y < HEIGHT; y++) line(0, y * cell, canvas.width, y * cell);
  paper.globalAlpha = 1;
  const share = isStill.matches ? 1 : Math.min(1, (performance.now() - audit.atMs) / AUDIT_MS);
  for (const [id, to] of audit.entities) {
    const from = audit.before.get(id) ?? to;
    const [x, y] = [from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share];
    paper.fillStyle = `hsl(${hash(id) % 360} 62% 52%)`;
    paper.beginPath();
    paper.arc((x + 0.5) * cell, (y + 0.5) * cell, cell * 0.22, 0, 2 * Math.PI);
    paper.fill();
  }
  requestAnimationFrame(draw);
}

function line(x1, y1, x2, y2) {
  paper.beginPath();
  paper.moveTo(x1, y1);
  paper.lineTo(x2, y2);
  paper.stroke();
}

function hash(text) {
  let sum = 0;
  for (const letter of text) sum = (sum * 31 + letter.charCodeAt(0)) % 100_003;
  return sum;
}

await signIn();
void look();
void lookAtHosts();
requestAnimationFrame(draw);
