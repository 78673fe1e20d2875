/* The channels of src/transport/node_window.cpp. N ranks send each other messages of one piece or of three, or
 * nothing, or say where a long message lies (an offer). Some messages are not expected by their receivers, and some
 * that are expected are never sent. In the last exchange every rank sends one piece to every other; before it, all
 * ranks do what ALIKE names, if it is defined. Proves that a receiver gets the segments of the exchange that it is in,
 * in their order; that the sender's memory still holds an offered message when it is read, or that the receiver
 * refuses the offer and the message comes in three segments; and that nobody waits for ever.
 * WRONG: a slot is filled again too early (1), or a sender takes its memory back before it was read (2). */
#ifndef N
#define N 2
#endif
#ifndef EXCHANGES
#define EXCHANGES 3
#endif
#ifndef WRONG
#define WRONG 0
#endif

#if N == 2
#define may_refuse true
#else /* only one pair may, once: more would be too many states */
#define may_refuse (now == 1 && peer == 0 && me == 1)
#endif

#define SLOTS 2
#define channel(from, to) ((from) * N + (to))
#define slot(from, to, piece) (channel(from, to) * SLOTS + (piece) % SLOTS)
#define plan_of(from, to) plan[channel(from, to) * (EXCHANGES + 1) + now]

/* What a rank sends to another in an exchange, and whether the other expects it. */
#define none 1
#define short_one 2
#define long_one 3 /* three segments */
#define offered 4
#define unexpected 5
#define never_sent 6
byte plan[N * N * (EXCHANGES + 1)];

/* The contents of each slot. The number says that the contents are there. */
byte number[N * N * SLOTS], piggyback[N * N * SLOTS], exchange[N * N * SLOTS], data[N * N * SLOTS];
byte taken_by[N * N]; /* segments that the receiver has taken */
bool refusal[N * N];  /* whether the receiver refused the last offer that it took */
bool is_offer[N * N * SLOTS];
byte memory[N * N];   /* what an offer points to: the exchange, or 0 once the program has the memory back */

inline decide(from, to) {
  atomic {
    if
    :: plan_of(from, to) != 0
    :: plan_of(from, to) == 0 && now == EXCHANGES -> plan_of(from, to) = short_one
    :: plan_of(from, to) == 0 && now < EXCHANGES ->
#ifdef ALIKE
       plan_of(from, to) = ALIKE
#else
       if
       :: plan_of(from, to) = none
       :: plan_of(from, to) = short_one
       :: plan_of(from, to) = long_one
       :: plan_of(from, to) = offered
       :: plan_of(from, to) = unexpected
       :: plan_of(from, to) = never_sent
       fi
#endif
    fi
  }
}

/* publish(): announces a piece whose data are there */
inline publish(value, offer) {
  data[slot(me, peer, pushed[peer])] = value;
  is_offer[slot(me, peer, pushed[peer])] = offer;
  atomic {
    piggyback[slot(me, peer, pushed[peer])] = pulled[peer];
    exchange[slot(me, peer, pushed[peer])] = now
  }
  atomic { /* stores the number, which releases what was written before it */
    pushed[peer]++;
    number[slot(me, peer, pushed[peer] - 1)] = pushed[peer];
    to_send[peer]--
  }
}

#if WRONG == 1
#define has_room (pushed[peer] - taken[peer] <= SLOTS)
#else
#define has_room (pushed[peer] - taken[peer] <= SLOTS - 1)
#endif
#if WRONG == 2
#define is_read (true)
#else
#define is_read (pushed[peer] == taken[peer])
#endif

/* push(): moves what can move now of what is left to send to a peer */
inline push() {
  if
  :: to_send[peer] == 0 && is_offered[peer] && is_read && !refusal[channel(me, peer)] ->
     atomic { memory[channel(me, peer)] = 0; is_offered[peer] = false }
  :: to_send[peer] == 0 && is_offered[peer] && is_read && refusal[channel(me, peer)] ->
     atomic { is_refused[peer] = true; is_offered[peer] = false; to_send[peer] = 3 }
  :: to_send[peer] > 0 && has_room && plan_of(me, peer) == offered && !is_refused[peer] ->
     memory[channel(me, peer)] = now;
     publish(0, true);
     is_offered[peer] = true
  :: to_send[peer] > 0 && has_room && (plan_of(me, peer) != offered || is_refused[peer]) ->
     publish(now * 4 + to_send[peer], false)
  :: else -> taken[peer] = taken_by[channel(me, peer)]
  fi
}

/* pull(): takes a piece. A piece of an earlier exchange is dropped. A sender that is in a later exchange sends
 * nothing more in this one. */
inline pull() {
  if
  :: to_get[peer] > 0 && number[slot(peer, me, pulled[peer])] == pulled[peer] + 1 ->
     if
     :: piggyback[slot(peer, me, pulled[peer])] > taken[peer] -> taken[peer] = piggyback[slot(peer, me, pulled[peer])]
     :: else
     fi;
     if
     :: exchange[slot(peer, me, pulled[peer])] > now ->
        assert(plan_of(peer, me) == never_sent);
        to_get[peer] = 0
     :: exchange[slot(peer, me, pulled[peer])] < now -> take()
     :: exchange[slot(peer, me, pulled[peer])] == now ->
        if
        :: is_offer[slot(peer, me, pulled[peer])] ->
           assert(plan_of(peer, me) == offered && memory[channel(peer, me)] == now);
           if
           :: to_get[peer]--; refusal[channel(peer, me)] = false
           :: may_refuse -> to_get[peer] = 3; refusal[channel(peer, me)] = true
           fi
        :: else ->
           assert(data[slot(peer, me, pulled[peer])] == now * 4 + to_get[peer]);
           to_get[peer]--
        fi;
        take()
     fi
  :: else
  fi
}

inline take() { atomic { pulled[peer]++; taken_by[channel(peer, me)] = pulled[peer] } }

inline begin_exchange() {
  now++;
  peer = 0;
  do
  :: peer == N -> break
  :: else ->
     if
     :: peer != me ->
        decide(me, peer);
        decide(peer, me);
        atomic {
          to_send[peer] = (plan_of(me, peer) == long_one -> 3
                           : (plan_of(me, peer) == none || plan_of(me, peer) == never_sent -> 0 : 1));
          is_refused[peer] = false;
          to_get[peer] = (plan_of(peer, me) == long_one -> 3
                          : (plan_of(peer, me) == none || plan_of(peer, me) == unexpected -> 0 : 1))
        }
     :: else
     fi;
     peer++
  od
}

proctype rank(byte me) {
  byte now = 0, peer, ended;
  byte pushed[N], pulled[N], taken[N], to_send[N], to_get[N];
  bool is_offered[N], is_refused[N];
  do
  :: now == EXCHANGES -> break
  :: else ->
     begin_exchange();
     do
     :: peer = 0;
        ended = 0;
        do
        :: peer == N -> break
        :: else ->
           if
           :: peer != me ->
              if
              :: to_send[peer] > 0 || is_offered[peer] -> push()
              :: else
              fi;
              if
              :: to_get[peer] > 0 -> pull()
              :: else
              fi
           :: else
           fi;
           if
           :: to_send[peer] == 0 && !is_offered[peer] && to_get[peer] == 0 -> ended++
           :: else
           fi;
           peer++
        od;
        if
        :: ended == N -> break
        :: else
        fi
     od
  od;
progress_ended: skip
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
