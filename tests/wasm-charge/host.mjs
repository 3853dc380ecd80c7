// Drives a charge that was compiled for bare wasm32: this has the clock, the dice and the network, the module has none.
// The clock is one that leaps: whoever waits, it is later at once.
//
//     node host.mjs MODULE.wasm PG
//
// PG is the command `pg`, whose sandbox is the service. Ends with 1 when anything is not as it should be.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';

const [SEND, WAIT, DONE] = [0, 1, 2];
const [BEGIN, REPLY, NOT_SENT, MAYBE_SENT, WOKEN] = [0, 1, 2, 3, 4];

const [modulePath, pg] = process.argv.slice(2);
let now = Date.now();

const module = await WebAssembly.compile(await readFile(modulePath));
assert.deepEqual(WebAssembly.Module.imports(module), [], 'the module asks for something of its host');

/** A charge: in an instance of its own, so that nothing is left of one that was given up. */
class Charge {
  constructor(start) {
    this.exports = new WebAssembly.Instance(module, {}).exports;
    this.write(Buffer.from(JSON.stringify(start)));
    assert.equal(this.exports.begin(), 0, this.read());
  }

  write(bytes) {
    const at = this.exports.input(bytes.length);
    new Uint8Array(this.exports.memory.buffer, at, bytes.length).set(bytes);
  }

  read() {
    const at = this.exports.output();
    return Buffer.from(this.exports.memory.buffer, at, this.exports.output_bytes()).toString();
  }

  step({ event, status = 0, body = Buffer.alloc(0) }) {
    this.write(body);
    const wants = this.exports.step(event, status, BigInt(now), randomBytes(8).readBigUInt64LE());
    assert.ok(wants <= DONE, 'called out of turn');
    return { wants, ...JSON.parse(this.read()) };
  }
}

/** Node says by its code when there was no connection; whatever else went wrong, the request may have arrived. */
async function send({ method, url, headers, body }) {
  try {
    const reply = await fetch(url, { method, headers, body, redirect: 'error' });
    return { event: REPLY, status: reply.status, body: Buffer.from(await reply.arrayBuffer()) };
  } catch (error) {
    return { event: ['ECONNREFUSED', 'ENOTFOUND'].includes(error.cause?.code) ? NOT_SENT : MAYBE_SENT };
  }
}

/** Drives to the end; `sent` gets each path, `stop` may end it before an event is told, as a crash would. */
async function drive(charge, sent, stop = () => false) {
  let [event, saved] = [{ event: BEGIN }, undefined];
  for (;;) {
    const next = charge.step(event);
    if (next.wants === DONE) return { ...next, saved };
    if (next.wants === WAIT) {
      now = Math.max(now, next.until);
      event = { event: WOKEN };
    } else {
      saved = next.saved;
      sent.push(new URL(next.url).pathname);
      event = await send(next);
      if (stop(event)) return { saved };
    }
  }
}

async function withSandbox(test) {
  const sandbox = spawn(pg, ['sandbox', '--listen', '127.0.0.1:0', '--json'], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [first] = await new Promise((resolve, reject) => {
      sandbox.once('error', reject);
      createInterface(sandbox.stdout).once('line', (line) => resolve([line]));
    });
    const { baseUrl, merchants } = JSON.parse(first);
    const { apiKey, apiPassword, shaKey } = merchants.find(({ name }) => name === 'main');
    await test({ baseUrl, apiKey, apiPassword, shaKey });
  } finally {
    const gone = once(sandbox, 'exit');
    sandbox.kill();
    await gone;
  }
}

async function fault(baseUrl, kind) {
  const body = JSON.stringify({ method: 'transaction/auth', kind });
  assert.ok((await fetch(`${baseUrl}/_sandbox/faults`, { method: 'POST', body })).ok);
}

/** The keys of the payments that the service holds for an order. */
async function ledger(baseUrl, order) {
  const all = await (await fetch(`${baseUrl}/_sandbox/transactions`)).json();
  return all.filter((held) => held.uniqueMerchantReference === order).map((held) => held.transactionKey);
}

const [auth, lookup] = ['/v3/transaction/auth/json', '/v3/transaction/lookup/json'];

let formerly;
await withSandbox(async (account) => {
  formerly = account;
  const { baseUrl } = account;

  let sent = [];
  let end = await drive(new Charge({ ...account, order: 'plain' }), sent);
  assert.equal(end.outcome, 'approved');
  assert.deepEqual(await ledger(baseUrl, 'plain'), [end.detail]);
  assert.deepEqual(sent, [auth]);
  console.log(`charged once: ${end.detail}`);

  sent = [];
  await fault(baseUrl, 'drop-reply');
  end = await drive(new Charge({ ...account, order: 'lost' }), sent);
  assert.equal(end.outcome, 'approved');
  assert.deepEqual(await ledger(baseUrl, 'lost'), [end.detail]);
  assert.deepEqual(sent, [auth, lookup]);
  console.log(`charged once, found by a lookup after its reply was lost: ${end.detail}`);

  sent = [];
  await fault(baseUrl, 'drop-reply');
  const { saved } = await drive(new Charge({ ...account, order: 'crash' }), sent, ({ event }) => event === MAYBE_SENT);
  end = await drive(new Charge({ ...account, order: 'crash', saved }), sent);
  assert.equal(end.outcome, 'approved');
  assert.deepEqual(await ledger(baseUrl, 'crash'), [end.detail]);
  assert.deepEqual(sent, [auth, lookup]);
  console.log(`charged once, by a second instance that went on from what the first had stored: ${end.detail}`);
});

// Its sandbox is gone: nobody listens there any more.
const end = await drive(new Charge({ ...formerly, order: 'nobody' }), []);
assert.equal(end.outcome, 'not sent');
console.log('not sent, where nobody listens');
