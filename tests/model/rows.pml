/* The rows of shared memory that src/transport/node_rows.cpp keeps: N ranks make EXCHANGES exchanges, in which a rank has
 * something for another or not, in all of them alike if STEADY. A reader finds the exchange that it is in, whole, and nobody waits for ever.
 * WRONG: a row is written again as soon as its turn comes. */
#ifndef N
#define N 2
#endif
#ifndef EXCHANGES
#define EXCHANGES 4
#endif

#define row(rank, exchange) ((rank) * 2 + (exchange) % 2)
#define block(rank, exchange, reader) (row(rank, exchange) * N + (reader))
#ifdef STEADY
#define something(from, to, exchange) sends[(from) * N + (to)]
#else
#define something(from, to, exchange) sends[((from) * N + (to)) * (EXCHANGES + 1) + (exchange)]
#endif

byte number[N * 2];                  /* published */
byte blocks[N * 2 * N];              /* what lies in them: the exchange that they are of */
byte sends[N * N * (EXCHANGES + 1)]; /* whether a rank has something for another: 0 undecided, 1 no, 2 yes */

inline decide(from, to) {
  if
  :: something(from, to, now) == 0 -> if :: something(from, to, now) = 1 :: something(from, to, now) = 2 fi
  :: else
  fi
}

/* node_rows::has_begun: which of the two rows is the later one is not known. */
inline wait_until_begun(rank, exchange) {
  do
  :: number[row(rank, 0)] >= exchange -> break
  :: number[row(rank, 1)] >= exchange -> break
  od
}

proctype rank(byte me) {
  byte now = 0, peer;
  do
  :: now == EXCHANGES -> break
  :: else ->
#ifndef WRONG
     peer = 0; /* awaited_reader(): who had something to read in the row that is replaced */
     do
     :: peer == N -> break
     :: else ->
        if
        :: peer != me && now > 0 && something(me, peer, now - 1) == 2 -> wait_until_begun(peer, now)
        :: else
        fi;
        peer++
     od;
#endif
     now++;
     atomic { /* add(): in one step, as each block has a reader of its own */
       peer = 0;
       do
       :: peer == N -> break
       :: peer == me -> peer++
       :: else ->
          decide(me, peer);
          if
          :: something(me, peer, now) == 2 -> blocks[block(me, now, peer)] = now
          :: else
          fi;
          peer++
       od
     }
     number[row(me, now)] = now; /* publish() */
     peer = 0; /* is_there() and block_from() */
     do
     :: peer == N -> break
     :: else ->
        if
        :: peer != me ->
           atomic { decide(peer, me) }
           if
           :: something(peer, me, now) == 2 ->
              number[row(peer, now)] == now;
              assert(blocks[block(peer, now, me)] == now);
              assert(blocks[block(peer, now, me)] == now) /* still, when it has been copied */
           :: else
           fi
        :: else
        fi;
        peer++
     od
  od
}

init {
  atomic {
    byte one = 0;
    do
    :: one == N -> break
    :: else -> run rank(one); one++
    od
  }
}
